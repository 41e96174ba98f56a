package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.avro.Document;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Erasure;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;

/** {@code docs/asyncapi.json} describes the topics as the code uses them. */
final class AsyncApiTest {
    private static final Map<String, Schema> VALUES = Map.of(
            Topics.EVENTS,
            IdentityEvent.getClassSchema(),
            Topics.EVENTS + ".{namespace}",
            IdentityEvent.getClassSchema(),
            Topics.IDENTITIES,
            IdentityRow.getClassSchema(),
            Topics.DOCUMENTS,
            Document.getClassSchema(),
            Topics.REJECTIONS,
            Rejection.getClassSchema(),
            Topics.COLLECTIONS,
            CollectionsEntry.getClassSchema());

    private final JsonNode description = read();

    private static JsonNode read() {
        try {
            return new ObjectMapper()
                    .readTree(Path.of("..", "docs", "asyncapi.json").toFile());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void describesExactlyTheRegistrysTopics() {
        Set<String> topics = new TreeSet<>(RegistryTopics.names());
        topics.add(Topics.EVENTS + ".{namespace}");

        assertThat(channels().keySet()).isEqualTo(topics);
        assertThat(Topics.isEvents(Topics.eventsTopicOf("music"))).isTrue();
    }

    @Test
    void describesKeysAndHeadersOfEveryTopic() {
        channels().forEach((topic, channel) -> {
            JsonNode message = message(channel);
            assertThat(message.at("/bindings/kafka/key/description").asText())
                    .as(topic)
                    .isNotEmpty();
            assertThat(names(message.at("/headers/properties")))
                    .as(topic)
                    .isEqualTo(
                            switch (topic) {
                                case Topics.IDENTITIES -> Set.of(Position.HEADER, Outcome.HEADER);
                                case Topics.REJECTIONS -> Set.of(Position.HEADER, Outcome.HEADER, Erasure.TIME_HEADER);
                                case Topics.DOCUMENTS -> Set.of(Position.HEADER);
                                default -> Set.of();
                            });
        });
        String outcome = message(channels().get(Topics.IDENTITIES))
                .at("/headers/properties/" + Outcome.HEADER + "/pattern")
                .asText();
        assertThat(Outcome.APPLIED.toString()).matches(outcome);
        assertThat(Outcome.UNCHANGED.toString()).matches(outcome);
        for (Reason reason : Reason.values()) {
            assertThat(Outcome.refused(reason).toString()).matches(outcome);
        }
    }

    @Test
    void describesTheDigestsOfIdentitiesAndDocuments() {
        for (String topic : List.of(Topics.IDENTITIES, Topics.DOCUMENTS)) {
            assertThat(channels().get(topic).at("/messages/digest/$ref").asText())
                    .isEqualTo("#/components/messages/digest");
        }
        JsonNode digest = description.at("/components/messages/digest");
        JsonNode header = digest.at("/headers/properties/" + PartitionDigest.HEADER);
        assertThat(new PartitionDigest(1042, -1).toString())
                .matches(header.path("pattern").asText());
        String example = header.at("/examples/0").asText();
        assertThat(PartitionDigest.parse(example)).hasToString(example);
    }

    @Test
    void everyFieldOfAValueIsDescribedAsTheSchemaSays() {
        Map<String, Schema> records = new LinkedHashMap<>();
        channels().forEach((topic, channel) -> {
            Schema schema = VALUES.get(topic);
            if (schema != null) {
                assertThat(message(channel).at("/payload/$ref").asText())
                        .as(topic)
                        .isEqualTo("#/components/schemas/" + schema.getName());
                collect(schema, records);
            }
        });
        assertThat(names(description.at("/components/schemas"))).isEqualTo(records.keySet());
        records.forEach((name, schema) -> {
            JsonNode described = description.at("/components/schemas/" + name);
            switch (schema.getType()) {
                case RECORD -> assertFields(described, schema);
                case ENUM ->
                    assertThat(texts(described.path("enum"))).containsExactlyElementsOf(schema.getEnumSymbols());
                default -> assertThat(described.path("maxLength").asInt()).isEqualTo(schema.getFixedSize());
            }
        });
    }

    private static void assertFields(JsonNode described, Schema schema) {
        JsonNode properties = described.path("properties");
        List<String> required = new ArrayList<>();
        for (Schema.Field field : schema.getFields()) {
            JsonNode property = properties.path(field.name());
            String name = schema.getName() + "." + field.name();
            assertThat(property.isMissingNode()).as(name).isFalse();
            assertThat(property.path("description").asText(""))
                    .as(name)
                    .isEqualTo(field.doc() == null ? "" : field.doc());
            assertThat(property.toString().contains("\"null\""))
                    .as(name)
                    .isEqualTo(field.schema().isNullable());
            if (!field.hasDefaultValue()) {
                required.add(field.name());
            }
        }
        assertThat(properties.size())
                .as(schema.getName())
                .isEqualTo(schema.getFields().size());
        assertThat(texts(described.path("required"))).as(schema.getName()).containsExactlyElementsOf(required);
    }

    /** A schema and all that it is made of, those that have names. */
    private static void collect(Schema schema, Map<String, Schema> named) {
        switch (schema.getType()) {
            case RECORD -> {
                if (named.put(schema.getName(), schema) == null) {
                    schema.getFields().forEach(field -> collect(field.schema(), named));
                }
            }
            case ENUM, FIXED -> named.put(schema.getName(), schema);
            case UNION -> schema.getTypes().forEach(type -> collect(type, named));
            case ARRAY -> collect(schema.getElementType(), named);
            case MAP -> collect(schema.getValueType(), named);
            default -> {}
        }
    }

    /** By topic. */
    private Map<String, JsonNode> channels() {
        Map<String, JsonNode> channels = new TreeMap<>();
        description
                .path("channels")
                .forEach(channel -> channels.put(channel.path("address").asText(), channel));
        return channels;
    }

    private JsonNode message(JsonNode channel) {
        JsonNode reference = channel.path("messages").elements().next();
        JsonNode message = description.at(reference.path("$ref").asText().substring(1));
        assertThat(message.isMissingNode()).as(reference.toString()).isFalse();
        return message;
    }

    private static Set<String> names(JsonNode object) {
        Set<String> names = new TreeSet<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(text -> texts.add(text.asText()));
        return texts;
    }
}
