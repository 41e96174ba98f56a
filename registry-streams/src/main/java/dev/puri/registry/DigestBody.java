package dev.puri.registry;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.http.JsonBody;
import dev.puri.projection.DigestAtOffset;
import dev.puri.projection.DigestCheck;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.Function;

/**
 * The body of the response to {@code GET /v1/digest}: the digests of the tasks on this instance, by topic and
 * partition.
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
        List<Map<String, Object>> topics = List.of(
                topic(Topics.IDENTITIES, tasks, TaskDigests::identities),
                topic(Topics.DOCUMENTS, tasks, TaskDigests::documents));
        JsonBody.writeValue(json, Map.of("topics", topics));
    }

    private Map<String, Object> topic(
            String topic, SortedMap<Integer, TaskState> tasks, Function<TaskDigests, PartitionDigest> digestOf) {
        List<Map<String, Object>> partitions = new ArrayList<>();
        tasks.forEach((partition, task) -> {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("partition", partition);
            TaskDigests digests = task.digests();
            if (digests == null) {
                json.put("detail", NO_DIGEST);
            } else {
                PartitionDigest digest = digestOf.apply(digests);
                json.put("rows", digest.rows());
                json.put("digest", digest.toString());
                DigestAtOffset published = states.published(topic, partition);
                if (published != null) {
                    json.put("publishedOffset", published.offset());
                    json.put("publishedDigest", published.digest().toString());
                }
            }
            partitions.add(json);
        });
        return DigestCheck.topicJson(topic, partitions);
    }
}
