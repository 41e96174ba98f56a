package dev.puri.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.Any;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.serde.ConfluentSerde.Surroundings;
import dev.puri.testkit.SchemaRegistryFixture;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.apache.avro.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The same with a real Apicurio, through its Confluent API, and tests that need a real one. */
class ApicurioContractIT extends ConfluentContract {
    private static final Schema EVENT = RecordWriter.of(IdentityEvent.class).schema();

    private final ConfluentSchemaRegistry registry =
            ConfluentSchemaRegistry.create(Map.of("schema.registry.url", url(), "max.retries", 1));
    private final String subject = "apicurio-" + UUID.randomUUID() + "-value";

    @Override
    String url() {
        return SchemaRegistryFixture.shared().url();
    }

    @AfterEach
    void close() {
        registry.close();
    }

    private static Schema eventWith(String before, String after) {
        String text = EVENT.toString();
        assertThat(text).contains(before);
        return new Schema.Parser().parse(text.replace(before, after));
    }

    @Test
    void registersFindsAndReadsBack() {
        int id = registry.register(subject, EVENT);
        try (ConfluentSchemaRegistry another = ConfluentSchemaRegistry.create(Map.of("schema.registry.url", url()))) {
            assertThat(another.register(subject, EVENT)).isEqualTo(id);
            assertThat(another.byId(id)).isEqualTo(EVENT);
        }
        try (ConfluentSchemaRegistry another = ConfluentSchemaRegistry.create(Map.of("schema.registry.url", url()))) {
            assertThat(another.idOf(subject, EVENT)).isEqualTo(id);
        }
        assertThat(registry.latest(subject).id()).isEqualTo(id);
        assertThat(registry.latest(subject).schema()).isEqualTo(EVENT);
    }

    @Test
    void theRegisteredSchemaIsTheFileByteForByte() throws Exception {
        registry.register(subject, EVENT);
        assertThat(get("/subjects/" + subject + "/versions/1/schema"))
                .isEqualTo(Files.readString(Path.of("spec/avro/IdentityEvent.avsc")));
    }

    @Test
    void aClientThatRegistersTheFileAddsNoVersion() throws Exception {
        int id = registry.register(subject, EVENT);
        ObjectMapper json = new ObjectMapper();
        String file = Files.readString(Path.of("spec/avro/IdentityEvent.avsc"));
        String indented = json.readTree(file).toPrettyString();
        for (String text : List.of(file, file + "\n", indented)) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(url() + "/subjects/" + subject + "/versions"))
                    .header("Content-Type", "application/vnd.schemaregistry.v1+json")
                    .POST(BodyPublishers.ofString(
                            json.createObjectNode().put("schema", text).toString()))
                    .build();
            assertThat(json.readTree(body(request)).path("id").asInt()).isEqualTo(id);
        }
        assertThat(get("/subjects/" + subject + "/versions")).isEqualTo("[1]");
    }

    @Test
    void confluentsSerializerAddsNoVersionWhenItRemovesJavaProperties() throws Exception {
        String topic = subject.replace("-value", "");
        int id = registry.register(subject, EVENT);
        try (ConfluentSerde theirs = new ConfluentSerde(
                Surroundings.OURS, Map.of("schema.registry.url", url(), "avro.remove.java.properties", "true"))) {
            byte[] value = theirs.serialize(topic, EventAvro.toAvro(Any.event(new Random(1))));
            assertThat(WireFormat.schemaId(value)).isEqualTo(id);
        }
        assertThat(get("/subjects/" + subject + "/versions")).isEqualTo("[1]");
    }

    @Test
    void afterTheSchemaOfAnEarlierBuildOursIsACompatibleVersionAndBothAreRead() {
        Schema earlier = IdentityEvent.getClassSchema();
        int first = registry.register(subject, earlier);
        registry.setCompatibility(subject, Compatibility.FULL_TRANSITIVE);
        int second = registry.register(subject, EVENT);
        assertThat(second).isNotEqualTo(first);
        assertThat(registry.idOf(subject, earlier))
                .as("an earlier build still works")
                .isEqualTo(first);
        assertThat(registry.latest(subject).version()).isEqualTo(2);
        IdentityEvent event = EventAvro.toAvro(Any.event(new Random(2)));
        RecordReader<IdentityEvent> reader = RecordReader.of(IdentityEvent.class);
        for (int id : new int[] {first, second}) {
            byte[] value = RecordWriter.of(IdentityEvent.class).encode(id, event);
            assertThat(reader.decode(value, registry.byId(id))).isEqualTo(event);
        }
    }

    @Test
    void compatibilityComesFromTheSubjectOrElseFromTheRegistry() {
        assertThatThrownBy(() -> registry.compatibility(subject)).isInstanceOf(UnknownSchemaException.class);
        registry.register(subject, EVENT);
        assertThat(registry.compatibility(subject)).isEqualTo("NONE");
        registry.setCompatibility(subject, Compatibility.FULL_TRANSITIVE);
        assertThat(registry.compatibility(subject)).isEqualTo("FULL_TRANSITIVE");
    }

    private String get(String path) throws Exception {
        return body(HttpRequest.newBuilder(URI.create(url() + path)).build());
    }

    private static String body(HttpRequest request) throws Exception {
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return answer.body();
    }

    @Test
    void anUnknownIdSubjectAndSchemaAreDistinguishedFromFailures() {
        assertThatThrownBy(() -> registry.byId(Integer.MAX_VALUE))
                .isInstanceOf(UnknownSchemaException.class)
                .hasMessageContainingAll("id " + Integer.MAX_VALUE, url());
        assertThatThrownBy(() -> registry.byId(0)).isInstanceOf(UnknownSchemaException.class);
        assertThatThrownBy(() -> registry.byId(-1)).isInstanceOf(UnknownSchemaException.class);
        assertThatThrownBy(() -> registry.idOf(subject, EVENT))
                .isInstanceOf(UnknownSchemaException.class)
                .hasMessageContainingAll(subject, url());
        assertThatThrownBy(() -> registry.latest(subject)).isInstanceOf(UnknownSchemaException.class);
        registry.register(subject, EVENT);
        assertThatThrownBy(() -> registry.idOf(subject, eventWith("\"puri\"", "\"other\"")))
                .isInstanceOf(UnknownSchemaException.class);
    }

    @Test
    void aWrongBaseUrlIsNotAnUnknownId() {
        String wrong = url().substring(0, url().indexOf("/apis"));
        try (ConfluentSchemaRegistry lost =
                ConfluentSchemaRegistry.create(Map.of("schema.registry.url", wrong, "max.retries", 0))) {
            assertThatThrownBy(() -> lost.byId(1))
                    .isInstanceOf(SchemaRegistryUnavailableException.class)
                    .hasMessageContainingAll("id 1", wrong);
        }
    }

    @Test
    void fullTransitiveRefusesChangesThatBreakAnEarlierReaderOrWriter() {
        registry.register(subject, EVENT);
        registry.setCompatibility(subject, Compatibility.FULL_TRANSITIVE);
        String source = "{\"name\":\"source\",";
        Schema optional =
                eventWith(source, "{\"name\":\"hint\",\"type\":[\"null\",\"string\"],\"default\":null}," + source);
        Schema required = eventWith(source, "{\"name\":\"hint\",\"type\":\"string\"}," + source);
        Schema renamed = eventWith(source, "{\"name\":\"origin\",");
        for (Schema schema : new Schema[] {required, renamed}) {
            assertThatThrownBy(() -> registry.register(subject, schema))
                    .isInstanceOf(IncompatibleSchemaException.class)
                    .hasMessageContainingAll(subject, url());
        }
        assertThat(registry.register(subject, optional)).isPositive();
        // Fits the latest, whose field has a default, but not the first.
        Schema filled = eventWith(source, "{\"name\":\"hint\",\"type\":\"string\"}," + source);
        assertThatThrownBy(() -> registry.register(subject, filled)).isInstanceOf(IncompatibleSchemaException.class);
    }

    @Test
    void withoutACompatibilityLevelApicurioAcceptsAnySchema() {
        registry.register(subject, EVENT);
        assertThat(registry.register(subject, eventWith("\"name\":\"puri\",\"type\":", "\"name\":\"puri2\",\"type\":")))
                .as("so the bootstrap must set one")
                .isPositive();
    }
}
