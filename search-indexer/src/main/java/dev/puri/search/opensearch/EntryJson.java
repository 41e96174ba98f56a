package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.search.index.Entry;
import dev.puri.search.index.Kind;
import dev.puri.search.words.Weights;
import dev.puri.search.words.Words;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An entry as the JSON that an index keeps, and back. What nobody looks for stands under {@code kept}, which
 * OpenSearch stores and does not index.
 */
final class EntryJson {
    /** A document's short attributes, such as titles and names. */
    static final String BRIEF = "brief";

    /** Its other attributes. */
    static final String LONG = "long";

    /** Where texts stand. */
    static final List<String> TEXTS = List.of(BRIEF, LONG);

    /** Behind a field's name: what a word in it counts, between 1 and 2, the more, the fewer words there are. */
    static final String WEIGHT = "_weight";

    private EntryJson() {}

    /** The id of a kind's entry in the index. */
    static String id(Kind kind, Puri puri) {
        return switch (kind) {
            case IDENTITY -> "i:" + puri;
            case DOCUMENT -> "d:" + puri;
        };
    }

    /** What the field {@code kind} says. */
    static String name(Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    /** What the field {@code status} says. */
    static String name(Row.Status status) {
        return status.name().toLowerCase(Locale.ROOT);
    }

    static ObjectNode write(Puri puri, Entry entry) {
        ObjectNode json = Cluster.JSON.createObjectNode();
        json.put("kind", name(entry.kind()))
                .put("puri", puri.toString())
                .put("namespace", puri.namespace())
                .put("collection", puri.qualifiedCollection())
                .put("shard", entry.shard().toString())
                .put("owner", entry.owner().toString())
                .put("status", name(entry.status()));
        Handle handle = entry.handle();
        if (handle != null) {
            json.put("handle", handle.toString());
        }
        ObjectNode kept = json.putObject("kept");
        switch (entry) {
            case Entry.OfIdentity identity -> {
                Row row = identity.row();
                json.put("uuid", row.uuid().toString());
                kept.put("epoch", row.epoch())
                        .put("createdAt", row.createdAt().toString())
                        .put("changedAt", row.changedAt().toString());
                keep(kept, row.mergedInto(), row.position());
            }
            case Entry.OfDocument ofDocument -> {
                Document document = ofDocument.document();
                writeText(json, document.attributes());
                keep(kept, document.mergedInto(), document.position());
            }
        }
        return json;
    }

    private static void writeText(ObjectNode json, Map<String, String> attributes) {
        Map<String, Integer> words = new TreeMap<>();
        attributes.forEach((name, value) -> {
            String field = value.length() <= Words.MAX_BRIEF_CHARACTERS ? BRIEF : LONG;
            json.withArray("/" + field).addObject().put("name", name).put("value", value);
            words.merge(field, Words.of(value).size(), Integer::sum);
        });
        words.forEach((field, count) -> json.put(field + WEIGHT, 1 + 1 / (1 + count / Weights.HALF_LENGTH)));
    }

    private static void keep(ObjectNode kept, @Nullable Puri mergedInto, Position position) {
        if (mergedInto != null) {
            kept.put("mergedInto", mergedInto.toString());
        }
        kept.put("position", position.toString());
    }

    static Puri puri(JsonNode json) {
        return Puri.parse(json.path("puri").asText());
    }

    static Entry read(JsonNode json) {
        Owner owner = Owner.parse(json.path("owner").asText());
        Shard shard = Shard.parse(json.path("shard").asText());
        Handle handle = json.has("handle") ? Handle.parse(json.path("handle").asText()) : null;
        Row.Status status = Row.Status.valueOf(json.path("status").asText().toUpperCase(Locale.ROOT));
        JsonNode kept = json.path("kept");
        Puri mergedInto =
                kept.has("mergedInto") ? Puri.parse(kept.path("mergedInto").asText()) : null;
        Position position = Position.parse(kept.path("position").asText());
        Kind kind = Kind.valueOf(json.path("kind").asText().toUpperCase(Locale.ROOT));
        return switch (kind) {
            case DOCUMENT ->
                new Entry.OfDocument(
                        new Document(owner, shard, handle, status, mergedInto, attributes(json), position));
            case IDENTITY ->
                new Entry.OfIdentity(new Row(
                        UUID.fromString(json.path("uuid").asText()),
                        owner,
                        shard,
                        handle,
                        status,
                        kept.path("epoch").asLong(),
                        Instant.parse(kept.path("createdAt").asText()),
                        Instant.parse(kept.path("changedAt").asText()),
                        mergedInto,
                        position));
        };
    }

    static Map<String, String> attributes(JsonNode json) {
        Map<String, String> attributes = new HashMap<>();
        for (String field : TEXTS) {
            for (JsonNode each : json.path(field)) {
                attributes.put(each.path("name").asText(), each.path("value").asText());
            }
        }
        return attributes;
    }
}
