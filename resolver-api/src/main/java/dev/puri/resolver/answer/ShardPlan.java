package dev.puri.resolver.answer;

import static dev.puri.resolver.answer.JsonOut.ascii;

import dev.puri.resolver.table.RecordView;
import java.nio.charset.StandardCharsets;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Groups the results of a batch by shard, so that a client sends one query to each. Omits results without a placement.
 */
final class ShardPlan {
    private static final byte[] SHARDS = ascii(",\"shards\":{");
    private static final int SMALL = 64;

    private final Map<String, Indexes> byName = new TreeMap<>();

    /**
     * By the array that rows of a shard share. A shard has several if its word was removed and added again meanwhile.
     */
    private final Map<byte[], Indexes> byArray = new IdentityHashMap<>();

    private record Indexes(byte[] shard, JsonOut list) {}

    void add(RecordView placement, int index) {
        byte[] shard = placement.shard();
        Indexes there = byArray.get(shard);
        if (there == null) {
            there = byName.computeIfAbsent(
                    new String(shard, StandardCharsets.US_ASCII), name -> new Indexes(shard, new JsonOut(SMALL)));
            byArray.put(shard, there);
        }
        if (there.list.length() > 0) {
            there.list.put(',');
        }
        there.list.number(index);
    }

    void write(JsonOut out) {
        out.put(SHARDS);
        String separator = "\"";
        for (Indexes each : byName.values()) {
            out.put(ascii(separator))
                    .put(each.shard)
                    .put(ascii("\":["))
                    .put(each.list)
                    .put(']');
            separator = ",\"";
        }
        out.put('}');
    }
}
