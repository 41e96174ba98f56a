package dev.puri.registry;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.http.JsonBody;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Topics;
import dev.puri.tail.DigestAtOffset;
import java.io.IOException;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The body of the response to {@code GET /v1/digest}: the digests of the tasks on this instance, by topic and partition.
 *
 * <p>{@code rows} and {@code digest} include changes that are not committed yet, so they have no offset. {@code
 * publishedDigest} is the digest of all records before {@code publishedOffset}. The registrar has published it as the
 * record at this offset.
 */
record DigestBody(TaskStates states) implements JsonBody {
    private static final String NO_DIGEST = "the registrar has no digest of this partition, because an earlier release,"
            + " which kept no digests, has read events of it, or a part of its state was lost; see \"Digests\" in"
            + " docs/operations.md";

    @Override
    public void writeTo(JsonGenerator json) throws IOException {
        SortedMap<Integer, TaskState> tasks = states.byPartition();
        json.writeStartObject();
        json.writeArrayFieldStart("topics");
        writeTopic(json, Topics.IDENTITIES, tasks, TaskDigests::identities);
        writeTopic(json, Topics.DOCUMENTS, tasks, TaskDigests::documents);
        json.writeEndArray();
        json.writeEndObject();
    }

    private void writeTopic(
            JsonGenerator json,
            String topic,
            SortedMap<Integer, TaskState> tasks,
            Function<TaskDigests, PartitionDigest> digestOf)
            throws IOException {
        json.writeStartObject();
        json.writeStringField("topic", topic);
        json.writeArrayFieldStart("partitions");
        for (Map.Entry<Integer, TaskState> task : tasks.entrySet()) {
            json.writeStartObject();
            json.writeNumberField("partition", task.getKey());
            TaskDigests digests = task.getValue().digests();
            if (digests == null) {
                json.writeStringField("detail", NO_DIGEST);
            } else {
                PartitionDigest digest = digestOf.apply(digests);
                json.writeNumberField("rows", digest.rows());
                json.writeStringField("digest", digest.toString());
                writePublished(json, states.published(topic, task.getKey()));
            }
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private static void writePublished(JsonGenerator json, @Nullable DigestAtOffset published) throws IOException {
        if (published != null) {
            json.writeNumberField("publishedOffset", published.offset());
            json.writeStringField("publishedDigest", published.digest().toString());
        }
    }
}
