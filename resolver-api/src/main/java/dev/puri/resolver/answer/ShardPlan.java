package dev.puri.resolver.answer;

import static dev.puri.resolver.answer.JsonOut.ascii;

import dev.puri.resolver.table.RecordView;
import java.nio.charset.StandardCharsets;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The field {@code shards} of a batch: the indexes of the results by shard, so that a client sends one query to each
 * shard. Results without an object are left out.
 */
final class ShardPlan {
    private static final byte[] SHARDS = ascii(",\"shards\":{");
    private static final int INITIAL_BYTES = 64;

    private final Map<String, Indexes> byName = new TreeMap<>();

    /**
     * By the array with the name of the shard, which rows share. A shard has several arrays if the table dropped the
     * name and added it again meanwhile.
     */
    private final Map<byte[], Indexes> byArray = new IdentityHashMap<>();

    private record Indexes(byte[] shard, JsonOut list) {}

    /** Adds the index of a result. */
    void add(RecordView placement, int index) {
        byte[] shard = placement.shardBytes();
        Indexes indexes = byArray.get(shard);
        if (indexes == null) {
            indexes = byName.computeIfAbsent(
                    new String(shard, StandardCharsets.US_ASCII),
                    name -> new Indexes(shard, new JsonOut(INITIAL_BYTES)));
            byArray.put(shard, indexes);
        }
        if (indexes.list.length() > 0) {
            indexes.list.put(',');
        }
        indexes.list.number(index);
    }

    void write(JsonOut out) {
        out.put(SHARDS);
        String separator = "\"";
        for (Indexes indexes : byName.values()) {
            out.put(ascii(separator))
                    .put(indexes.shard)
                    .put(ascii("\":["))
                    .put(indexes.list)
                    .put(']');
            separator = ",\"";
        }
        out.put('}');
    }
}
