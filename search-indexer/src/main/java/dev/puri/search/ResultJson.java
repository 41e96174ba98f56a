package dev.puri.search;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.search.index.SearchResult;
import dev.puri.search.index.SearchResult.Hit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes pages of results as JSON. The public format is written by separate code, so that it cannot reveal a field by
 * mistake.
 */
final class ResultJson {
    private ResultJson() {}

    /** Writes a page with all fields. */
    static void write(JsonGenerator json, SearchResult page, SearchRequest request, @Nullable String cursor)
            throws IOException {
        json.writeStartObject();
        json.writeArrayFieldStart("results");
        for (Hit hit : page.hits()) {
            json.writeStartObject();
            writeName(json, hit);
            json.writeStringField("shard", hit.shard().text());
            json.writeStringField("owner", hit.owner().text());
            json.writeStringField("status", SearchRequest.text(hit.status()));
            if (hit.mergedInto() != null) {
                json.writeStringField("canonical", hit.mergedInto().toString());
            }
            writeTextMatch(json, hit);
            json.writeEndObject();
        }
        json.writeEndArray();
        writeTotal(json, page);
        if (request.query().facets()) {
            json.writeObjectFieldStart("facets");
            writeCounts(json, "collection", page.byCollection());
            writeCounts(json, "shard", page.byShard());
            json.writeEndObject();
        }
        if (request.groupsByShard()) {
            writeShards(json, page.hits());
        }
        writeEnd(json, cursor);
    }

    /** Writes a page with only the fields that the public may see. */
    static void writePublic(JsonGenerator json, SearchResult page, boolean facets, @Nullable String cursor)
            throws IOException {
        json.writeStartObject();
        json.writeArrayFieldStart("results");
        for (Hit hit : page.hits()) {
            json.writeStartObject();
            writeName(json, hit);
            writeTextMatch(json, hit);
            json.writeEndObject();
        }
        json.writeEndArray();
        writeTotal(json, page);
        if (facets) {
            json.writeObjectFieldStart("facets");
            writeCounts(json, "collection", page.byCollection());
            json.writeEndObject();
        }
        writeEnd(json, cursor);
    }

    private static void writeName(JsonGenerator json, Hit hit) throws IOException {
        json.writeStringField("puri", hit.puri().toString());
        json.writeStringField("collection", hit.puri().qualifiedCollection());
        if (hit.handle() != null) {
            json.writeStringField("handle", hit.handle().text());
        }
    }

    private static void writeTextMatch(JsonGenerator json, Hit hit) throws IOException {
        if (hit.score() != null) {
            json.writeNumberField("score", hit.score());
        }
        json.writeObjectFieldStart("attributes");
        // In the order of the index: the title first.
        for (Map.Entry<String, String> attribute : hit.attributes().entrySet()) {
            json.writeStringField(attribute.getKey(), attribute.getValue());
        }
        json.writeEndObject();
        if (!hit.highlights().isEmpty()) {
            json.writeObjectFieldStart("highlights");
            for (Map.Entry<String, List<String>> highlight : new TreeMap<>(hit.highlights()).entrySet()) {
                json.writeArrayFieldStart(highlight.getKey());
                for (String fragment : highlight.getValue()) {
                    json.writeString(fragment);
                }
                json.writeEndArray();
            }
            json.writeEndObject();
        }
    }

    private static void writeTotal(JsonGenerator json, SearchResult page) throws IOException {
        json.writeNumberField("total", page.total());
        json.writeBooleanField("totalIsExact", page.totalIsExact());
    }

    private static void writeCounts(JsonGenerator json, String facet, Map<String, Long> counts) throws IOException {
        json.writeObjectFieldStart(facet);
        for (Map.Entry<String, Long> count : counts.entrySet()) {
            json.writeNumberField(count.getKey(), count.getValue());
        }
        json.writeEndObject();
    }

    /**
     * Writes the indices of the results by shard: a client can fetch the full records with one request for each shard.
     */
    private static void writeShards(JsonGenerator json, List<Hit> hits) throws IOException {
        Map<String, List<Integer>> shards = new LinkedHashMap<>();
        for (int i = 0; i < hits.size(); i++) {
            shards.computeIfAbsent(hits.get(i).shard().text(), shard -> new ArrayList<>())
                    .add(i);
        }
        json.writeObjectFieldStart("shards");
        for (Map.Entry<String, List<Integer>> shard : shards.entrySet()) {
            json.writeArrayFieldStart(shard.getKey());
            for (int i : shard.getValue()) {
                json.writeNumber(i);
            }
            json.writeEndArray();
        }
        json.writeEndObject();
    }

    private static void writeEnd(JsonGenerator json, @Nullable String cursor) throws IOException {
        if (cursor != null) {
            json.writeStringField("cursor", cursor);
        }
        json.writeEndObject();
    }
}
