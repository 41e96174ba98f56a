package dev.puri.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.InterruptException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConfluentSchemaRegistryTest {
    private static final Schema NAME =
            SchemaBuilder.record("Name").fields().requiredString("name").endRecord();
    private static final Schema NUMBER =
            SchemaBuilder.record("Name").fields().requiredLong("number").endRecord();

    private final FakeRegistry fake = new FakeRegistry();

    @AfterEach
    void stop() {
        fake.close();
    }

    private static Map<String, Object> impatient(String url) {
        Map<String, Object> configs = new HashMap<>();
        configs.put("schema.registry.url", url);
        configs.put("http.connect.timeout.ms", "200");
        configs.put("http.read.timeout.ms", 200);
        configs.put("max.retries", "2");
        configs.put("retries.wait.ms", "1");
        configs.put("missing.id.cache.ttl.sec", "0");
        return configs;
    }

    private static String nobody() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return "http://127.0.0.1:" + free.getLocalPort();
        }
    }

    private ConfluentSchemaRegistry registry() {
        return ConfluentSchemaRegistry.create(impatient(fake.url()));
    }

    @Test
    void registersOnceAndReadsBack() {
        try (ConfluentSchemaRegistry registry = registry()) {
            int id = registry.register("a b/c+d-value", NAME);
            assertThat(registry.register("a b/c+d-value", NAME)).isEqualTo(id);
            assertThat(registry.idOf("a b/c+d-value", NAME)).isEqualTo(id);
            assertThat(registry.byId(id)).isEqualTo(NAME);
            assertThat(registry.byId(id)).isEqualTo(NAME);
        }
        assertThat(fake.requests)
                .extracting(FakeRegistry.Request::path)
                .containsExactly("/subjects/a%20b%2Fc%2Bd-value/versions", "/schemas/ids/1");
    }

    @Test
    void slashesAfterTheBaseDoNotCount() {
        try (ConfluentSchemaRegistry registry = ConfluentSchemaRegistry.create(impatient(fake.url() + "//"))) {
            assertThat(registry.register("s", NAME)).isEqualTo(1);
        }
    }

    @Test
    void compatibilityIsSetForTheSubject() {
        try (ConfluentSchemaRegistry registry = registry()) {
            registry.setCompatibility("puri.events.v1-value", Compatibility.FULL_TRANSITIVE);
        }
        assertThat(fake.compatibility).containsEntry("puri.events.v1-value", "FULL_TRANSITIVE");
    }

    @Test
    void aConflictIsIgnoredIfAnotherClientHasSetTheSameCompatibility() {
        try (ConfluentSchemaRegistry registry = registry()) {
            fake.compatibility.put("s-value", "FULL_TRANSITIVE");
            fake.fail(1, 409);
            registry.setCompatibility("s-value", Compatibility.FULL_TRANSITIVE);

            fake.compatibility.put("s-value", "BACKWARD");
            fake.fail(1, 409);
            assertThatThrownBy(() -> registry.setCompatibility("s-value", Compatibility.FULL_TRANSITIVE))
                    .isInstanceOf(IncompatibleSchemaException.class)
                    .hasMessageContainingAll("compatibility of subject s-value", fake.url(), "409");
        }
    }

    @Test
    void anIdThatTheRegistryDoesNotKnowIsUnknown() {
        try (ConfluentSchemaRegistry registry = registry()) {
            assertThatThrownBy(() -> registry.byId(77))
                    .isInstanceOf(UnknownSchemaException.class)
                    .hasMessageContainingAll("id 77", fake.url());
        }
        assertThat(fake.requests).as("the answer is cached").hasSize(1);
    }

    @Test
    void manyRecordsWithUnknownIdsCauseFewRequests() {
        Map<String, Object> configs = impatient(fake.url());
        configs.put("missing.id.cache.ttl.sec", "3600");
        try (ConfluentSchemaRegistry registry = ConfluentSchemaRegistry.create(configs)) {
            for (int i = 0; i < 100; i++) {
                assertThatThrownBy(() -> registry.byId(77))
                        .isInstanceOf(UnknownSchemaException.class)
                        .hasMessageContainingAll("id 77", fake.url());
            }
        }
        assertThat(fake.requests).hasSize(1);
    }

    @Test
    void aPlain404IsAWrongUrlAndNotAnUnknownId() {
        try (ConfluentSchemaRegistry registry =
                ConfluentSchemaRegistry.create(impatient(fake.url() + "/not/the/base"))) {
            assertThatThrownBy(() -> registry.byId(1))
                    .isInstanceOf(SchemaRegistryUnavailableException.class)
                    .hasMessageContainingAll("id 1", fake.url() + "/not/the/base", "404");
        }
    }

    @Test
    void anUnregisteredSchemaHasNoId() {
        try (ConfluentSchemaRegistry registry = registry()) {
            assertThatThrownBy(() -> registry.idOf("s-value", NAME))
                    .isInstanceOf(UnknownSchemaException.class)
                    .hasMessageContainingAll("s-value", fake.url());
            registry.register("s-value", NAME);
            assertThatThrownBy(() -> registry.idOf("s-value", NUMBER)).isInstanceOf(UnknownSchemaException.class);
        }
    }

    @Test
    void anIncompatibleSchemaIsRefusedOnceAndNamesTheSubject() {
        try (ConfluentSchemaRegistry registry = registry()) {
            registry.register("s-value", NAME);
            fake.requests.clear();
            assertThatThrownBy(() -> registry.register("s-value", NUMBER))
                    .isInstanceOf(IncompatibleSchemaException.class)
                    .hasMessageContainingAll("s-value", "Name", fake.url(), "incompatible");
        }
        assertThat(fake.requests).hasSize(1);
    }

    @Test
    void aSchemaThatIsNotAvroIsUnknown() {
        int id = fake.add("{\"type\": \"no such type\"}");
        try (ConfluentSchemaRegistry registry = registry()) {
            assertThatThrownBy(() -> registry.byId(id))
                    .isInstanceOf(UnknownSchemaException.class)
                    .hasMessageContainingAll("id " + id, fake.url());
        }
    }

    @Test
    void temporaryFailuresAreRetried() {
        try (ConfluentSchemaRegistry registry = registry()) {
            fake.fail(2, 503);
            assertThat(registry.register("s", NAME)).isEqualTo(1);
            fake.fail(2, 429);
            assertThat(registry.byId(1)).isEqualTo(NAME);
        }
        assertThat(fake.requests).hasSize(6);
    }

    @Test
    void retriesEnd() {
        try (ConfluentSchemaRegistry registry = registry()) {
            fake.fail(1000, 500);
            assertThatThrownBy(() -> registry.byId(5))
                    .isInstanceOf(SchemaRegistryUnavailableException.class)
                    .hasMessageContainingAll("id 5", fake.url(), "500", "not now");
        }
        assertThat(fake.requests).as("one request and two retries").hasSize(3);
    }

    @Test
    void aRefusedLoginIsNotRetried() {
        try (ConfluentSchemaRegistry registry = registry()) {
            fake.fail(1, 401);
            assertThatThrownBy(() -> registry.byId(5))
                    .isInstanceOf(SchemaRegistryUnavailableException.class)
                    .hasMessageContainingAll("id 5", fake.url(), "401");
        }
        assertThat(fake.requests).hasSize(1);
    }

    @Test
    void anUnreachableSchemaRegistryIsReportedInBoundedTime() throws IOException {
        String down = nobody();
        Instant start = Instant.now();
        try (ConfluentSchemaRegistry registry = ConfluentSchemaRegistry.create(impatient(down))) {
            assertThatThrownBy(() -> registry.register("s-value", NAME))
                    .isInstanceOf(SchemaRegistryUnavailableException.class)
                    .hasMessageContainingAll("s-value", down);
            assertThatThrownBy(() -> registry.byId(9))
                    .isInstanceOf(SchemaRegistryUnavailableException.class)
                    .hasMessageContainingAll("id 9", down);
        }
        assertThat(Duration.between(start, Instant.now())).isLessThan(Duration.ofSeconds(10));
    }

    @Test
    void anUnresponsiveSchemaRegistryIsReportedInBoundedTime() {
        fake.fallSilent();
        Instant start = Instant.now();
        try (ConfluentSchemaRegistry registry = registry()) {
            assertThatThrownBy(() -> registry.byId(9))
                    .isInstanceOf(SchemaRegistryUnavailableException.class)
                    .hasMessageContainingAll("id 9", fake.url());
        }
        assertThat(Duration.between(start, Instant.now())).isLessThan(Duration.ofSeconds(10));
    }

    @Test
    void aWaitingCallCanBeInterrupted() throws InterruptedException {
        fake.fallSilent();
        Map<String, Object> configs = impatient(fake.url());
        configs.put("http.read.timeout.ms", 600_000);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        AtomicBoolean flag = new AtomicBoolean();
        try (ConfluentSchemaRegistry registry = ConfluentSchemaRegistry.create(configs)) {
            Thread waiting = new Thread(() -> {
                try {
                    registry.byId(9);
                } catch (RuntimeException e) {
                    thrown.set(e);
                    flag.set(Thread.currentThread().isInterrupted());
                }
            });
            waiting.start();
            Awaitility.await().until(() -> !fake.requests.isEmpty());
            waiting.interrupt();
            waiting.join(10_000);
            assertThat(waiting.isAlive()).isFalse();
        }
        assertThat(thrown.get()).isInstanceOf(InterruptException.class);
        assertThat(flag).isTrue();
    }

    @Test
    void usesTheNextUrlWhenOneIsDown() throws IOException {
        try (ConfluentSchemaRegistry registry =
                ConfluentSchemaRegistry.create(impatient(nobody() + " , " + fake.url()))) {
            assertThat(registry.register("s", NAME)).isEqualTo(1);
            assertThat(registry.byId(1)).isEqualTo(NAME);
        }
    }

    @Test
    void credentialsComeFromUserInfoOrTheUrlOrAToken() {
        Map<String, Object> userInfo = impatient(fake.url());
        userInfo.put("basic.auth.credentials.source", "USER_INFO");
        userInfo.put("basic.auth.user.info", "ann:s3cr:et");
        Map<String, Object> inUrl = impatient("http://bob:p%40ss@" + fake.authority());
        Map<String, Object> bearer = impatient(fake.url());
        bearer.put("bearer.auth.token", "abc.def");
        for (Map<String, Object> configs : List.of(userInfo, inUrl, bearer)) {
            try (ConfluentSchemaRegistry registry = ConfluentSchemaRegistry.create(configs)) {
                registry.register("s", NAME);
            }
        }
        assertThat(fake.requests)
                .extracting(FakeRegistry.Request::authorization)
                .containsExactly("Basic YW5uOnMzY3I6ZXQ=", "Basic Ym9iOnBAc3M=", "Bearer abc.def");
    }

    @Test
    void noMessageContainsCredentials() throws IOException {
        String down = nobody();
        Map<String, Object> configs = impatient(down.replace("http://", "http://bob:s3cret@"));
        try (ConfluentSchemaRegistry registry = ConfluentSchemaRegistry.create(configs)) {
            assertThatThrownBy(() -> registry.byId(9)).satisfies(e -> {
                for (Throwable t = e; t != null; t = t.getCause()) {
                    assertThat(t.toString()).doesNotContain("s3cret").doesNotContain("Ym9i");
                }
            });
        }
        for (String url : List.of("http://bob:s3cret@ho st", "ftp://bob:s3cret@host", "http://bob:s3cret@host?q")) {
            assertThatThrownBy(() -> ConfluentSchemaRegistry.create(impatient(url)))
                    .isInstanceOf(ConfigException.class)
                    .message()
                    .contains("schema.registry.url")
                    .doesNotContain("s3cret");
        }
    }

    /** An HTTP client would report this port at each request, as if the schema registry did not respond. */
    @ParameterizedTest
    @ValueSource(strings = {"http://registry:0", "http://registry:80811"})
    void aPortThatDoesNotExistIsRefused(String url) {
        assertThatThrownBy(() -> ConfluentSchemaRegistry.create(impatient(url)))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("port");
    }

    @Test
    void wrongSettingsAreRefusedByName() {
        Map<String, String> wrong = Map.of(
                "max.retries", "many",
                "http.read.timeout.ms", "-1",
                "basic.auth.credentials.source", "SASL_INHERIT",
                "bearer.auth.credentials.source", "OAUTHBEARER",
                "bearer.auth.token", "two words",
                "schema.registry.ssl.truststore.location", "/etc/trust.jks",
                "schema.registry.url", " , ");
        wrong.forEach((key, value) -> {
            Map<String, Object> configs = impatient(fake.url());
            configs.put(key, value);
            assertThatThrownBy(() -> ConfluentSchemaRegistry.create(configs))
                    .as(key)
                    .isInstanceOf(ConfigException.class)
                    .hasMessageContaining(key);
        });
    }
}
