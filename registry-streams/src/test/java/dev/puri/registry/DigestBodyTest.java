package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.projection.DigestAtOffset;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.io.StringWriter;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class DigestBodyTest {
    private final TaskStates states = new TaskStates();

    private String json() throws IOException {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
            new DigestBody(states).writeTo(json);
        }
        return text.toString();
    }

    @Test
    void showsTheDigestsOfEachTaskAndThoseThatItHasPublished() throws Exception {
        TaskDigests digests = new TaskDigests(new PartitionDigest(3, 0xA), new PartitionDigest(1, 0xB));
        states.put(2, new TaskState(EventCounts.NONE, digests));
        states.putPublished(
                new TopicPartition(Topics.IDENTITIES, 2), new DigestAtOffset(17, new PartitionDigest(2, 0xC)));

        assertThat(json()).isEqualTo("""
                        {"topics":[\
                        {"topic":"puri.identities.v1","partitions":[\
                        {"partition":2,"rows":3,"digest":"3:000000000000000a",\
                        "publishedOffset":17,"publishedDigest":"2:000000000000000c"}]},\
                        {"topic":"puri.documents.v1","partitions":[\
                        {"partition":2,"rows":1,"digest":"1:000000000000000b"}]}]}""");
    }

    @Test
    void saysWhyATaskHasNoDigests() throws Exception {
        states.put(0, new TaskState(EventCounts.NONE, null));
        states.putPublished(
                new TopicPartition(Topics.IDENTITIES, 0), new DigestAtOffset(17, new PartitionDigest(2, 0xC)));

        assertThat(json())
                .contains("\"partition\":0,\"detail\":\"the registrar has no digest of this partition")
                .doesNotContain("rows\":")
                .doesNotContain("publishedOffset");
    }
}
