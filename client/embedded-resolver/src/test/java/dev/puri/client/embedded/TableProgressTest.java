package dev.puri.client.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class TableProgressTest {
    @Test
    void problemsWithRefusalsAndDeclarationsAreReportedAndLeaveTheTableReady() {
        TableProgress progress = new TableProgress(
                true,
                7L,
                7L,
                null,
                "not authorized to read puri.rejections.v1",
                "not authorized to read puri.collections.v1");

        assertThat(progress.isReady()).isTrue();
        assertThat(progress)
                .hasToString(
                        "7 of 7 offsets read: the table is current; refusals are not followed: not authorized to read"
                                + " puri.rejections.v1; declarations are not followed: not authorized to read"
                                + " puri.collections.v1");
    }

    @Test
    void tableWithAProblemIsNotReady() {
        assertThat(new TableProgress(true, null, null, "no broker", null, null).isReady())
                .isFalse();
        assertThat(new TableProgress(true, null, null, "no broker", null, null)).hasToString("no broker");
    }
}
