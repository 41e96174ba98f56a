package dev.puri.resolver.answer;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.http.Timestamp;
import dev.puri.resolver.tail.RejectionsView;
import dev.puri.resolver.wait.Sight;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Row;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The model of {@link InternalAnswer}: results as JSON by a library. {@code puri}, {@code handle}, {@code status}, {@code epoch} and the times speak of
 * the identity that was asked for; {@code owner}, {@code shard} and {@code uuid} say what to fetch
 * where, so they are there only if there is something to fetch, and are the survivor's once merged.
 */
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
        if (result.at() != null) {
            json.writeStringField("at", result.at().toString());
        }
        if (result.refused() != null) {
            writeRefusal(json, result.refused());
        }
        if (result.detail() != null) {
            json.writeStringField("detail", result.detail());
        }
        json.writeEndObject();
    }

    private static void writeRefusal(JsonGenerator json, Sight.Refused refused) throws IOException {
        String reason = refused.reason().name();
        Refusal told = refused.refusal();
        if (told == null) {
            json.writeStringField("reason", reason);
        } else {
            RejectionsView.writeWhy(json, reason, told.detail(), told.holder(), told.survivor());
        }
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

    /** By shard, which of the results are there; a result without placement is in none. */
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
