package dev.puri.resolver;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.resolver.table.TableStats;
import dev.puri.schemas.log.Row;
import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes the counts of a table as JSON, the body of {@code GET /v1/stats}. */
final class StatsJson {
    /** Maximum length of each list: of collections, of owners and of shards. Those with the most rows come first. */
    static final int MAX_LISTED = 1000;

    private StatsJson() {}

    /**
     * Writes the whole body.
     *
     * @param lag the table's lag, in records; null if unknown
     * @param lagAge how long ago the brokers reported the end offsets; null if they never did
     * @throws IOException only from the generator
     */
    static void write(JsonGenerator json, TableStats stats, @Nullable Long lag, @Nullable Duration lagAge)
            throws IOException {
        json.writeStartObject();
        json.writeNumberField("rows", stats.rows());
        json.writeNumberField("handles", stats.handles());
        json.writeObjectFieldStart("byStatus");
        for (Row.Status status : Row.Status.values()) {
            json.writeNumberField(
                    status.name().toLowerCase(Locale.ROOT), stats.byStatus().getOrDefault(status, 0L));
        }
        json.writeEndObject();
        writeCounts(json, "byCollection", "collections", stats.byCollection());
        writeCounts(json, "byOwner", "owners", stats.byOwner());
        writeCounts(json, "byShard", "shards", stats.byShard());
        json.writeObjectFieldStart("memory");
        json.writeNumberField("bytes", stats.bytes());
        json.writeNumberField("bytesInUse", stats.bytesInUse());
        json.writeNumberField("load", Math.round(stats.load() * 1000) / 1000.0);
        json.writeEndObject();
        json.writeObjectFieldStart("lag");
        if (lag != null) {
            json.writeNumberField("records", lag);
        }
        if (lagAge != null) {
            json.writeNumberField("ageSeconds", lagAge.toMillis() / 1000.0);
        }
        json.writeEndObject();
        json.writeEndObject();
    }

    /**
     * Writes the number of groups, such as collections, and an array of the groups with the most rows. It is an array
     * because the members of a JSON object have no order.
     */
    private static void writeCounts(JsonGenerator json, String listField, String totalField, Map<String, Long> counts)
            throws IOException {
        List<Map.Entry<String, Long>> largest = counts.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .limit(MAX_LISTED)
                .toList();
        json.writeNumberField(totalField, counts.size());
        json.writeArrayFieldStart(listField);
        for (Map.Entry<String, Long> count : largest) {
            json.writeStartObject();
            json.writeStringField("name", count.getKey());
            json.writeNumberField("rows", count.getValue());
            json.writeEndObject();
        }
        json.writeEndArray();
    }
}
