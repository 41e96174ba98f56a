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

/** Pages of results as JSON. The public has a writer of its own, so that nothing has to be left out here. */
final class ResultJson {
    private ResultJson() {}

    /** All that is known of them. */
    static void write(JsonGenerator json, SearchResult page, SearchRequest request, @Nullable String cursor)
            throws IOException {
        json.writeStartObject();
        json.writeArrayFieldStart("results");
        for (Hit hit : page.hits()) {
            json.writeStartObject();
            name(json, hit);
            json.writeStringField("shard", hit.shard().text());
            json.writeStringField("owner", hit.owner().text());
            json.writeStringField("status", SearchRequest.text(hit.status()));
            if (hit.mergedInto() != null) {
                json.writeStringField("canonical", hit.mergedInto().toString());
            }
            text(json, hit);
            json.writeEndObject();
        }
        json.writeEndArray();
        total(json, page);
        if (request.query().facets()) {
            json.writeObjectFieldStart("facets");
            counts(json, "collection", page.byCollection());
            counts(json, "shard", page.byShard());
            json.writeEndObject();
        }
        if (request.byShard()) {
            shards(json, page.hits());
        }
        end(json, cursor);
    }

    /** What the public may know of them. */
    static void writePublic(JsonGenerator json, SearchResult page, boolean facets, @Nullable String cursor)
            throws IOException {
        json.writeStartObject();
        json.writeArrayFieldStart("results");
        for (Hit hit : page.hits()) {
            json.writeStartObject();
            name(json, hit);
            text(json, hit);
            json.writeEndObject();
        }
        json.writeEndArray();
        total(json, page);
        if (facets) {
            json.writeObjectFieldStart("facets");
            counts(json, "collection", page.byCollection());
            json.writeEndObject();
        }
        end(json, cursor);
    }

    private static void name(JsonGenerator json, Hit hit) throws IOException {
        json.writeStringField("puri", hit.puri().toString());
        json.writeStringField("collection", hit.puri().qualifiedCollection());
        if (hit.handle() != null) {
            json.writeStringField("handle", hit.handle().text());
        }
    }

    private static void text(JsonGenerator json, Hit hit) throws IOException {
        if (hit.score() != null) {
            json.writeNumberField("score", hit.score());
        }
        json.writeObjectFieldStart("attributes");
        // The title first, as the index gives them.
        for (Map.Entry<String, String> each : hit.attributes().entrySet()) {
            json.writeStringField(each.getKey(), each.getValue());
        }
        json.writeEndObject();
        if (!hit.highlights().isEmpty()) {
            json.writeObjectFieldStart("highlights");
            for (Map.Entry<String, List<String>> each : new TreeMap<>(hit.highlights()).entrySet()) {
                json.writeArrayFieldStart(each.getKey());
                for (String piece : each.getValue()) {
                    json.writeString(piece);
                }
                json.writeEndArray();
            }
            json.writeEndObject();
        }
    }

    private static void total(JsonGenerator json, SearchResult page) throws IOException {
        json.writeNumberField("total", page.total());
        json.writeBooleanField("totalIsExact", page.totalIsExact());
    }

    private static void counts(JsonGenerator json, String facet, Map<String, Long> counts) throws IOException {
        json.writeObjectFieldStart(facet);
        for (Map.Entry<String, Long> each : counts.entrySet()) {
            json.writeNumberField(each.getKey(), each.getValue());
        }
        json.writeEndObject();
    }

    /** One question a shard for whoever wants the whole records: indices into the results. */
    private static void shards(JsonGenerator json, List<Hit> hits) throws IOException {
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

    private static void end(JsonGenerator json, @Nullable String cursor) throws IOException {
        if (cursor != null) {
            json.writeStringField("cursor", cursor);
        }
        json.writeEndObject();
    }
}
