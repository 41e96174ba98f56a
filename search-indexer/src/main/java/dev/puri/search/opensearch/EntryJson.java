package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Entry;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
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
import java.util.function.ToLongFunction;

/**
 * Converts entries into OpenSearch documents, which are JSON, and back. {@code index.json} declares the fields. The
 * object {@code kept} contains the values that no query uses; OpenSearch stores this object but does not index it.
 */
final class EntryJson {
    /** Prefix of the words fields; see {@link #wordsField}. */
    private static final String WORDS_PREFIX = "words_";

    /**
     * A score field has the name of its words field and this suffix; see {@link #scoreField}. The word "place" has no
     * meaning, but another suffix would need a new index format.
     */
    private static final String SCORE_SUFFIX = "_place";

    /** The field with the attributes that are shown but not searched. */
    private static final String UNSEARCHED = "shown";

    /** The field of {@code kept} with the name of the title attribute. */
    private static final String TITLE_NAME = "title";

    /** The field with the partition of the entry's record. */
    static final String PARTITION = "partition";

    /**
     * The fields with the four 16-bit parts of {@link RowHash} when the entry was written, the lowest part first.
     * OpenSearch adds up doubles, which are exact for integers up to 2⁵³: for the parts of 2³⁷ entries.
     */
    static final List<String> HASH_FIELDS = List.of("hash_0", "hash_1", "hash_2", "hash_3");

    /** Names of all fields that contain attributes. */
    static final List<String> ATTRIBUTE_FIELDS = attributeFields();

    private EntryJson() {}

    private static List<String> attributeFields() {
        List<String> fields = new ArrayList<>(List.of(UNSEARCHED));
        for (int weight = SearchedAttributes.MIN_WEIGHT; weight <= SearchedAttributes.MAX_WEIGHT; weight++) {
            fields.add(wordsField(weight));
        }
        return List.copyOf(fields);
    }

    /** Returns the name of the field with the attributes that have a weight. */
    static String wordsField(int weight) {
        return WORDS_PREFIX + weight;
    }

    /**
     * Returns the name of the field with the field score: the weight times {@link ScoreModel#lengthFactor}. A match in
     * the words field of this weight adds the field score to the score.
     */
    static String scoreField(int weight) {
        return wordsField(weight) + SCORE_SUFFIX;
    }

    /** Returns the id of an entry's OpenSearch document. */
    static String id(EntryKind kind, Puri puri) {
        return switch (kind) {
            case IDENTITY -> "i:" + puri;
            case DOCUMENT -> "d:" + puri;
        };
    }

    /** Returns the value of the field {@code status} for a status. */
    static String fieldValue(Row.Status status) {
        return status.name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the hash, or the sum of hashes, of which each field of {@link #HASH_FIELDS} has a part.
     *
     * @param part returns the value of a field
     */
    static long joinHash(ToLongFunction<String> part) {
        long hash = 0;
        for (int i = 0; i < HASH_FIELDS.size(); i++) {
            hash += part.applyAsLong(HASH_FIELDS.get(i)) << i * Short.SIZE;
        }
        return hash;
    }

    /**
     * Converts an entry into an OpenSearch document.
     *
     * @param partition the partition of the entry's record
     * @param searchedAttributes the attribute weights that the entry's collection declares
     */
    static ObjectNode toJson(int partition, Puri puri, Entry entry, SearchedAttributes searchedAttributes) {
        ObjectNode json = ClusterClient.JSON.createObjectNode();
        json.put("kind", EntryKind.of(entry).text())
                .put("puri", puri.toString())
                .put("namespace", puri.namespace())
                .put("collection", puri.qualifiedCollection())
                .put("shard", entry.shard().toString())
                .put("owner", entry.owner().toString())
                .put("status", fieldValue(entry.status()));
        json.put(PARTITION, partition);
        long hash = RowHash.of(puri, entry);
        for (int i = 0; i < HASH_FIELDS.size(); i++) {
            json.put(HASH_FIELDS.get(i), hash >>> i * Short.SIZE & 0xFFFF);
        }
        Handle handle = entry.handle();
        if (handle != null) {
            json.put("handle", handle.toString());
        }
        ObjectNode keptValues = json.putObject("kept");
        Puri mergedInto = entry.mergedInto();
        if (mergedInto != null) {
            keptValues.put("mergedInto", mergedInto.toString());
        }
        switch (entry) {
            case Row row -> {
                json.put("uuid", row.uuid().toString()).put("identifier", puri.identifier());
                keptValues
                        .put("epoch", row.epoch())
                        .put("createdAt", row.createdAt().toString())
                        .put("changedAt", row.changedAt().toString());
            }
            case Document document ->
                writeText(json, keptValues, IndexedText.of(document.attributes(), searchedAttributes));
        }
        keptValues.put("position", entry.position().toString());
        return json;
    }

    private static void writeText(ObjectNode json, ObjectNode keptValues, IndexedText text) {
        Map<Integer, Integer> wordCounts = new TreeMap<>();
        for (IndexedText.Attribute attribute : text.attributes()) {
            String field = attribute.weight() == 0 ? UNSEARCHED : wordsField(attribute.weight());
            json.withArray("/" + field)
                    .addObject()
                    .put("name", attribute.name())
                    .put("value", attribute.text());
            if (!attribute.words().isEmpty()) {
                wordCounts.merge(attribute.weight(), attribute.words().size(), Integer::sum);
            }
        }
        wordCounts.forEach((weight, wordCount) ->
                json.put(scoreField(weight), weight * ScoreModel.lengthFactorOfWordCount(wordCount)));
        text.keywords().forEach(json.withArray("/" + IndexedText.KEYWORDS_FIELD)::add);
        text.symbolWords().forEach(json.withArray("/" + IndexedText.SYMBOL_WORDS_FIELD)::add);
        json.put(IndexedText.TITLE_KEYWORD_FIELD, text.titleKeyword()).put("length", text.length());
        keptValues.put(TITLE_NAME, text.titleName());
    }

    /** Returns the pURI of the entry in an OpenSearch document. */
    static Puri puri(JsonNode json) {
        return Puri.parse(json.path("puri").asText());
    }

    /** Converts an OpenSearch document into an entry. */
    static Entry toEntry(JsonNode json) {
        Owner owner = Owner.parse(json.path("owner").asText());
        Shard shard = Shard.parse(json.path("shard").asText());
        Handle handle = json.has("handle") ? Handle.parse(json.path("handle").asText()) : null;
        Row.Status status = Row.Status.valueOf(json.path("status").asText().toUpperCase(Locale.ROOT));
        JsonNode keptValues = json.path("kept");
        Puri mergedInto = keptValues.has("mergedInto")
                ? Puri.parse(keptValues.path("mergedInto").asText())
                : null;
        Position position = Position.parse(keptValues.path("position").asText());
        EntryKind kind = EntryKind.valueOf(json.path("kind").asText().toUpperCase(Locale.ROOT));
        return switch (kind) {
            case DOCUMENT -> new Document(owner, shard, handle, status, mergedInto, attributes(json), position);
            case IDENTITY ->
                new Row(
                        UUID.fromString(json.path("uuid").asText()),
                        owner,
                        shard,
                        handle,
                        status,
                        keptValues.path("epoch").asLong(),
                        Instant.parse(keptValues.path("createdAt").asText()),
                        Instant.parse(keptValues.path("changedAt").asText()),
                        mergedInto,
                        position);
        };
    }

    /** Returns the attributes of the entry in an OpenSearch document. */
    static Map<String, String> attributes(JsonNode json) {
        Map<String, String> attributes = new HashMap<>();
        for (String field : ATTRIBUTE_FIELDS) {
            for (JsonNode attribute : json.path(field)) {
                attributes.put(
                        attribute.path("name").asText(), attribute.path("value").asText());
            }
        }
        return attributes;
    }

    /** Returns the attributes in the order in which a result shows them. */
    static Map<String, String> attributesInDisplayOrder(JsonNode json) {
        return IndexedText.inDisplayOrder(json.path("kept").path(TITLE_NAME).textValue(), attributes(json));
    }
}
