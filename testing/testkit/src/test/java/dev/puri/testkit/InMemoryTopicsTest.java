package dev.puri.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class InMemoryTopicsTest {
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);
    private final InMemoryTopics topics = new InMemoryTopics();
    private final Admin admin = topics.admin();

    private long offset(OffsetSpec spec, IsolationLevel isolation) throws Exception {
        return admin.listOffsets(Map.of(PARTITION, spec), new ListOffsetsOptions(isolation))
                .partitionResult(PARTITION)
                .get()
                .offset();
    }

    /** As a broker answers: an open transaction hides the records after its begin from read-committed consumers. */
    @Test
    void endOffsetsDependOnTheIsolationLevel() throws Exception {
        topics.create("t", 1);
        topics.setBegin(PARTITION, 2);
        topics.setEnd(PARTITION, 5, 9);
        for (IsolationLevel isolation : IsolationLevel.values()) {
            assertThat(offset(OffsetSpec.earliest(), isolation)).isEqualTo(2);
        }
        assertThat(offset(OffsetSpec.latest(), IsolationLevel.READ_COMMITTED)).isEqualTo(5);
        assertThat(offset(OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED)).isEqualTo(9);
        assertThat(admin.listOffsets(Map.of(PARTITION, OffsetSpec.latest()))
                        .partitionResult(PARTITION)
                        .get()
                        .offset())
                .isEqualTo(9);
        topics.setEnd(PARTITION, 10);
        assertThat(offset(OffsetSpec.latest(), IsolationLevel.READ_COMMITTED)).isEqualTo(10);
    }
}
