package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.serde.Compatibility;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.RegisteredForm;
import dev.puri.testkit.RestartableSchemaRegistry;
import dev.puri.testkit.SchemaRegistryFixture;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.avro.Schema;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RegistrySchemasIT {
    private static final AtomicInteger NAMESPACES = new AtomicInteger();
    private static RestartableSchemaRegistry server;

    /** Each test has its own schema registry, because it remembers deleted schemas. */
    private final String namespace = "music" + NAMESPACES.incrementAndGet();

    private final Set<String> owned = Set.of(namespace);
    private final String subject = "puri.events.v1." + namespace + "-value";
    private ConfluentSchemaRegistry registry;

    @BeforeAll
    static void start() {
        server = SchemaRegistryFixture.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void connect() {
        registry = ConfluentSchemaRegistry.create(Map.of("schema.registry.url", server.url()));
    }

    @AfterEach
    void disconnect() {
        registry.close();
    }

    private static String send(String method, String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.url() + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            return answer.body();
        }
    }

    @Test
    void registersEverySubjectWithTheSchemaOfItsFile() throws Exception {
        Map<String, Integer> ids = RegistrySchemas.register(registry, owned);
        assertThat(RegistrySchemas.check(registry, owned)).isEmpty();
        Map<String, String> files = Map.of(
                "puri.events.v1-value",
                "IdentityEvent",
                subject,
                "IdentityEvent",
                "puri.identities.v1-value",
                "IdentityRow",
                "puri.documents.v1-value",
                "Document",
                "puri.rejections.v1-value",
                "Rejection",
                "puri.collections.v1-value",
                "CollectionsEntry");
        assertThat(ids).containsOnlyKeys(files.keySet());
        for (Map.Entry<String, String> each : files.entrySet()) {
            assertThat(send("GET", "/subjects/" + each.getKey() + "/versions/latest/schema"))
                    .isEqualTo(Files.readString(Path.of("../schemas/spec/avro", each.getValue() + ".avsc")));
        }
    }

    @Test
    void reportsAWrongCompatibilityWithItsRemedy() {
        for (String each : RegistrySchemas.register(registry, owned).keySet()) {
            for (Compatibility level : Set.of(Compatibility.NONE, Compatibility.FULL)) {
                registry.setCompatibility(each, level);
                assertThat(RegistrySchemas.check(registry, owned))
                        .singleElement()
                        .asString()
                        .startsWith("the subject " + each + " has the compatibility " + level
                                + " and must have FULL_TRANSITIVE")
                        .endsWith("set it with puri topics create");
                RegistrySchemas.register(registry, owned);
                assertThat(RegistrySchemas.check(registry, owned)).isEmpty();
            }
        }
    }

    @Test
    void reportsAMissingSchemaWithItsRemedy() throws Exception {
        RegistrySchemas.register(registry, owned);
        send("DELETE", "/subjects/" + subject);
        assertThat(RegistrySchemas.check(registry, owned))
                .singleElement()
                .asString()
                .startsWith("the subject " + subject + " has no schema that can be read (subject " + subject + ": http")
                .endsWith("): register it with puri topics create");
    }

    @Test
    void reportsAForeignLatestSchema() {
        RegistrySchemas.register(registry, owned);
        String ours = registry.latest(subject).schema().toString();
        String source = "{\"name\":\"source\",";
        assertThat(ours).contains(source);
        int id = registry.register(
                subject,
                new Schema.Parser()
                        .parse(ours.replace(
                                source,
                                "{\"name\":\"hint\",\"type\":[\"null\",\"string\"],\"default\":null}," + source)));
        assertThat(RegistrySchemas.check(registry, owned))
                .singleElement()
                .asString()
                .startsWith("the latest schema of the subject " + subject + " (version 2, id " + id
                        + ") is not the one of this build: a newer release or another client registered it")
                .contains("auto.register.schemas=false");
    }

    @Test
    void reportsALevelThatIsInheritedFromTheRegistry() throws Exception {
        try (RestartableSchemaRegistry other = SchemaRegistryFixture.start();
                ConfluentSchemaRegistry fresh =
                        ConfluentSchemaRegistry.create(Map.of("schema.registry.url", other.url()))) {
            // Apicurio's own level is NONE.
            fresh.register(subject, RegisteredForm.of(IdentityEvent.getClassSchema()));
            assertThat(RegistrySchemas.check(fresh, owned))
                    .filteredOn(mistake -> mistake.contains(subject))
                    .singleElement()
                    .asString()
                    .contains("has the compatibility NONE and must have FULL_TRANSITIVE");
            RegistrySchemas.register(fresh, owned);
            assertThat(RegistrySchemas.check(fresh, owned)).isEmpty();
        }
    }

    @Test
    void reportsAnIncompatibleVersionBeforeTheLatest() throws Exception {
        Schema ours = RegisteredForm.of(IdentityEvent.getClassSchema());
        String source = "{\"name\":\"source\",";
        registry.register(subject, ours);
        registry.setCompatibility(subject, Compatibility.NONE);
        Schema foreign = new Schema.Parser()
                .parse(ours.toString().replace(source, "{\"name\":\"hint\",\"type\":\"string\"}," + source));
        registry.register(subject, foreign);
        Schema next = new Schema.Parser()
                .parse(ours.toString()
                        .replace(
                                source,
                                "{\"name\":\"hint\",\"type\":[\"null\",\"string\"],\"default\":null}," + source));
        registry.register(subject, next);
        RegistrySchemas.register(registry, owned);

        assertThat(RegistrySchemas.check(registry, owned))
                .hasSize(2)
                .filteredOn(mistake -> mistake.startsWith("version "))
                .singleElement()
                .asString()
                .startsWith("version 2 of the subject " + subject + " is not compatible with the schema of this build")
                .endsWith("DELETE /subjects/" + subject + "/versions/2");
    }

    @Test
    void registersANewVersionAfterTheSchemaOfAnEarlierBuild() throws Exception {
        Schema earlier = IdentityEvent.getClassSchema();
        assertThat(earlier).isNotEqualTo(RegisteredForm.of(earlier));
        registry.register(subject, earlier);
        registry.setCompatibility(subject, Compatibility.FULL_TRANSITIVE);
        RegistrySchemas.register(registry, Set.of());
        assertThat(RegistrySchemas.check(registry, owned))
                .singleElement()
                .asString()
                .startsWith("the latest schema of the subject " + subject + " (version 1, ")
                .endsWith("is not the one of this build: register the schema of this build with puri topics create");
        RegistrySchemas.register(registry, owned);
        assertThat(RegistrySchemas.check(registry, owned)).isEmpty();
        assertThat(send("GET", "/subjects/" + subject + "/versions")).isEqualTo("[1,2]");
    }
}
