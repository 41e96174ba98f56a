package dev.puri.resolver.answer;

import static dev.puri.resolver.answer.JsonOut.ascii;

import dev.puri.resolver.table.RecordView;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** Which results of a batch are in which shard: one query for each. A result without placement is in none. */
final class ShardPlan {
    private static final byte[] SHARDS = ascii(",\"shards\":{");
    private static final int SMALL = 64;

    private final Map<Integer, Indexes> byNumber = new HashMap<>();

    private record Indexes(byte[] shard, JsonOut list) {}

    void add(RecordView placement, int index) {
        Indexes there = byNumber.get(placement.shardNumber());
        if (there == null) {
            there = new Indexes(placement.shard(), new JsonOut(SMALL));
            byNumber.put(placement.shardNumber(), there);
        } else {
            there.list.put(',');
        }
        there.list.number(index);
    }

    void write(JsonOut out) {
        Map<String, Indexes> byName = new TreeMap<>();
        byNumber.values().forEach(each -> byName.put(new String(each.shard, StandardCharsets.US_ASCII), each));
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
