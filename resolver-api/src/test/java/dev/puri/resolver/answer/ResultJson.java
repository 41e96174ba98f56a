package dev.puri.resolver.answer;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.http.Timestamp;
import dev.puri.schemas.log.Row;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The model of {@link InternalResultWriter}: results as JSON, by a library and of objects. */
final class ResultJson {
    private ResultJson() {}

    static void write(JsonGenerator json, Result result) throws IOException {
        json.writeStartObject();
        json.writeStringField("ref", JsonOut.printable(result.ref()));
        json.writeStringField("verdict", result.verdict().toString());
        if (result.puri() != null) {
            json.writeStringField("puri", result.puri().toString());
        }
        if (result.canonical() != null) {
            json.writeStringField("canonical", result.canonical().toString());
        }
        Row row = result.row();
        if (row != null && row.handle() != null) {
            json.writeStringField("handle", row.handle().text());
        }
        Row placement = result.placement();
        if (placement != null) {
            json.writeStringField("owner", placement.owner().text());
            json.writeStringField("shard", placement.shard().text());
            json.writeStringField("uuid", placement.uuid().toString());
        }
        if (row != null) {
            json.writeStringField("status", row.status().name().toLowerCase(Locale.ROOT));
            json.writeNumberField("epoch", row.epoch());
            json.writeStringField("createdAt", Timestamp.text(row.createdAt()));
            json.writeStringField("changedAt", Timestamp.text(row.changedAt()));
        }
        if (result.detail() != null) {
            json.writeStringField("detail", result.detail());
        }
        json.writeEndObject();
    }

    static void writeBatch(JsonGenerator json, List<Result> results, boolean byShard) throws IOException {
        json.writeStartObject();
        json.writeArrayFieldStart("results");
        for (Result result : results) {
            write(json, result);
        }
        json.writeEndArray();
        if (byShard) {
            writeShards(json, results);
        }
        json.writeEndObject();
    }

    /** The indexes of results by shard; a result without placement is in none. */
    private static void writeShards(JsonGenerator json, List<Result> results) throws IOException {
        Map<String, List<Integer>> shards = new TreeMap<>();
        for (int i = 0; i < results.size(); i++) {
            Row placement = results.get(i).placement();
            if (placement != null) {
                shards.computeIfAbsent(placement.shard().text(), shard -> new ArrayList<>())
                        .add(i);
            }
        }
        json.writeObjectFieldStart("shards");
        for (Map.Entry<String, List<Integer>> shard : shards.entrySet()) {
            json.writeArrayFieldStart(shard.getKey());
            for (int index : shard.getValue()) {
                json.writeNumber(index);
            }
            json.writeEndArray();
        }
        json.writeEndObject();
    }
}
