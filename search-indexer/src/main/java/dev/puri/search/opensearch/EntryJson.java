package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.search.index.Entry;
import dev.puri.search.index.EntryKind;
import dev.puri.search.words.IndexedText;
import dev.puri.search.words.ScoreModel;
import java.time.Instant;
import java.util.ArrayList;
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
    /** Before a weight: a document's attributes of this weight. */
    private static final String WORDS = "words_";

    /** Behind a field's name: what a word in it adds, the more, the fewer words there are. */
    private static final String PLACE = "_place";

    /** A document's attributes that are shown and not searched. */
    private static final String SHOWN = "shown";

    /** Under {@code kept}: the name of the attribute that is the title. */
    private static final String TITLE_NAME = "title";

    /** Where attributes are read from. */
    static final List<String> ATTRIBUTES = attributes();

    private EntryJson() {}

    private static List<String> attributes() {
        List<String> fields = new ArrayList<>(List.of(SHOWN));
        for (int weight = SearchedAttributes.MIN_BOOST; weight <= SearchedAttributes.MAX_BOOST; weight++) {
            fields.add(words(weight));
        }
        return List.copyOf(fields);
    }

    /** Where attributes of a weight are. */
    static String words(int weight) {
        return WORDS + weight;
    }

    /** Where it is what a word in one of them adds. */
    static String place(int weight) {
        return words(weight) + PLACE;
    }

    /** The id of a kind's entry in the index. */
    static String id(EntryKind kind, Puri puri) {
        return switch (kind) {
            case IDENTITY -> "i:" + puri;
            case DOCUMENT -> "d:" + puri;
        };
    }

    /** What the field {@code kind} says. */
    static String name(EntryKind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    /** What the field {@code status} says. */
    static String name(Row.Status status) {
        return status.name().toLowerCase(Locale.ROOT);
    }

    /**
     * @param declared how a document's attributes are searched
     */
    static ObjectNode write(Puri puri, Entry entry, SearchedAttributes declared) {
        ObjectNode json = ClusterClient.JSON.createObjectNode();
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
                json.put("uuid", row.uuid().toString()).put("identifier", puri.identifier());
                kept.put("epoch", row.epoch())
                        .put("createdAt", row.createdAt().toString())
                        .put("changedAt", row.changedAt().toString());
                keep(kept, row.mergedInto(), row.position());
            }
            case Entry.OfDocument ofDocument -> {
                Document document = ofDocument.document();
                writeText(json, kept, IndexedText.of(document.attributes(), declared));
                keep(kept, document.mergedInto(), document.position());
            }
        }
        return json;
    }

    private static void writeText(ObjectNode json, ObjectNode kept, IndexedText text) {
        Map<Integer, Integer> lengths = new TreeMap<>();
        for (IndexedText.Attribute attribute : text.attributes()) {
            String field = attribute.weight() == 0 ? SHOWN : words(attribute.weight());
            json.withArray("/" + field)
                    .addObject()
                    .put("name", attribute.name())
                    .put("value", attribute.text());
            if (!attribute.words().isEmpty()) {
                lengths.merge(attribute.weight(), attribute.words().size(), Integer::sum);
            }
        }
        lengths.forEach((weight, words) -> json.put(place(weight), weight * ScoreModel.shortnessOf(words)));
        text.wholes().forEach(json.withArray("/whole")::add);
        text.signed().forEach(json.withArray("/signed")::add);
        json.put("title", text.titleWhole()).put("length", text.length());
        kept.put(TITLE_NAME, text.title());
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
        EntryKind kind = EntryKind.valueOf(json.path("kind").asText().toUpperCase(Locale.ROOT));
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
        for (String field : ATTRIBUTES) {
            for (JsonNode each : json.path(field)) {
                attributes.put(each.path("name").asText(), each.path("value").asText());
            }
        }
        return attributes;
    }

    /** Attributes in the order in which a result shows them. */
    static Map<String, String> shown(JsonNode json) {
        return IndexedText.shown(json.path("kept").path(TITLE_NAME).textValue(), attributes(json));
    }
}
