package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class RestoreCheckTest {
    private static final TopicPartition INCOMPLETE = new TopicPartition("changelog", 3);
    private final List<TopicPartition> checked = new ArrayList<>();
    private final RestoreCheck check = new RestoreCheck(partition -> {
        checked.add(partition);
        if (partition.equals(INCOMPLETE)) {
            throw new WrongTopicsException(List.of(partition + " is incomplete"));
        }
    });

    @Test
    void aPartitionThatLacksRecordsIsNotRestored() {
        assertThatThrownBy(() -> check.onRestoreStart(INCOMPLETE, "store", 10, 20))
                .isInstanceOf(WrongTopicsException.class)
                .hasMessage("changelog-3 is incomplete");
    }

    /** A check asks the brokers, so it must not repeat for each batch of a restore. */
    @Test
    void eachRestoreIsCheckedOnceBeforeItsFirstRecord() {
        TopicPartition complete = new TopicPartition("changelog", 4);
        for (int restore = 1; restore <= 2; restore++) {
            check.onRestoreStart(complete, "store", 0, 20);
            assertThat(checked).hasSize(restore).containsOnly(complete);
            check.onBatchRestored(complete, "store", 9, 10);
            check.onBatchRestored(complete, "store", 19, 10);
            check.onRestoreEnd(complete, "store", 20);
            assertThat(checked).hasSize(restore);
        }
    }
}
