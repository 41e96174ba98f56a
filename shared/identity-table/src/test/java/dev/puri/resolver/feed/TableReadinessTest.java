package dev.puri.resolver.feed;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class TableReadinessTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    @Test
    void fedTableWithASmallLagIsReady() {
        assertThat(unreadyReason(true, true, null, null, 10, SECOND)).isNull();
    }

    @Test
    void tableWithALargeLagIsNotReady() {
        assertThat(unreadyReason(true, true, null, null, 11, SECOND))
                .isEqualTo("the table is 11 records behind, more than 10");
    }

    @Test
    void reportsTroubleWhenTheEndOffsetsAreTooOld() {
        assertThat(unreadyReason(true, true, null, "no broker answers", 0, SECOND))
                .isNull();
        assertThat(unreadyReason(true, true, null, "no broker answers", 0, Duration.ofSeconds(31)))
                .isEqualTo("no broker answers");
        assertThat(unreadyReason(true, true, null, null, 0, Duration.ofSeconds(31)))
                .contains("not known");
        assertThat(unreadyReason(true, true, null, null, 0, null)).contains("not known");
    }

    @Test
    void reportsADeadFeederBeforeItsLag() {
        assertThat(unreadyReason(true, false, null, null, 0, SECOND)).contains("has stopped");
    }

    @Test
    void reportsWhyATableIsNotFed() {
        assertThat(unreadyReason(false, false, null, null, 0, null)).isEqualTo("the table is being filled");
        assertThat(unreadyReason(false, true, null, "no topic", 0, SECOND)).isEqualTo("no topic");
    }

    @Test
    void reportsAHangingTransactionDespiteALagOfZero() {
        assertThat(new TableReadiness(true, true, null, null, null, 0, SECOND, "it hangs")
                        .unreadyReason(10, Duration.ofSeconds(30)))
                .isEqualTo("it hangs");
    }

    @Test
    void reportsWrongContentBeforeTheLag() {
        assertThat(new TableReadiness(true, true, null, "no broker answers", "rows differ", 11, SECOND, "it hangs")
                        .unreadyReason(10, Duration.ofSeconds(30)))
                .isEqualTo("rows differ");
    }

    @Test
    void reportsTheWaitForTheSchemaRegistryFirst() {
        assertThat(unreadyReason(true, true, "refused", "other", 0, SECOND))
                .isEqualTo("waiting for the schema registry: refused");
    }

    private static @Nullable String unreadyReason(
            boolean isServingTableFed,
            boolean isFeederRunning,
            @Nullable String schemaRegistryProblem,
            @Nullable String problem,
            long lag,
            @Nullable Duration lagAge) {
        return new TableReadiness(
                        isServingTableFed, isFeederRunning, schemaRegistryProblem, problem, null, lag, lagAge, null)
                .unreadyReason(10, Duration.ofSeconds(30));
    }
}
