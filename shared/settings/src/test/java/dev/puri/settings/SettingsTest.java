package dev.puri.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SettingsTest {
    record Sample(
            @Setting(doc = "Brokers.", byDefault = "127.0.0.1:9092")
            String bootstrapServer,

            @Setting(doc = "Registry.", byDefault = "http://127.0.0.1:8081/apis/ccompat/v7")
            URI schemaRegistry,

            @Setting(doc = "Port.", byDefault = "8080", atLeast = "0", atMost = "65535")
            int httpPort,

            @Setting(doc = "Lag.", byDefault = "10000", atLeast = "1")
            long maxLag,

            @Setting(doc = "Wait.", byDefault = "30 s", atLeast = "100ms", atMost = "PT1M")
            Duration waitTime,

            @Setting(doc = "Loud.", byDefault = "false") boolean loud,
            @Setting(doc = "State.") Optional<Path> stateDir,
            @Setting(doc = "Origins.") List<String> origins,
            @Setting(doc = "Password.") Optional<Secret> password,
            @Setting(doc = "Kafka client property.") KafkaProperties kafka) {
        Sample {
            if (origins.contains("nowhere")) {
                throw new IllegalArgumentException("origins: nowhere is no origin");
            }
            for (String origin : origins) {
                if (origin.contains("@")) {
                    throw new IllegalArgumentException("origins: " + origin + " has a user");
                }
            }
        }
    }

    record Other(@Setting(doc = "Port.", byDefault = "8082") int streamsPort) {}

    record Demanding(@Setting(doc = "The name.") String name) {}

    record Plain(@Setting(doc = "Port.", byDefault = "1") int port) {}

    record Shared(
            @Setting(doc = "Rows.", byDefault = "1", atLeast = "1")
            int maxRows,

            @Setting(doc = "Key.") Optional<Secret> apiKey) {
        Shared {
            if (maxRows == 13) {
                throw new IllegalArgumentException("max.rows: 13 is unlucky");
            }
        }
    }

    record Nesting(@Setting(doc = "Port.", byDefault = "1") int port, Shared shared) {}

    @TempDir
    private Path folder;

    @Test
    void defaultsApplyIfNothingIsSet() {
        Sample sample = Settings.read(Sample.class, Map.of(), Map.of("HOME", "/root"), null);

        assertThat(sample)
                .isEqualTo(new Sample(
                        "127.0.0.1:9092",
                        URI.create("http://127.0.0.1:8081/apis/ccompat/v7"),
                        8080,
                        10_000,
                        Duration.ofSeconds(30),
                        false,
                        Optional.empty(),
                        List.of(),
                        Optional.empty(),
                        KafkaProperties.NONE));
    }

    @Test
    void flagsOverrideEnvironmentOverridesFileOverridesDefaults() throws IOException {
        Path file = file("http.port=1\nmax.lag=1\nwait.time=1s\nloud=true\n");
        Map<String, String> environment = Map.of("PURI_HTTP_PORT", "2", "PURI_MAX_LAG", "2");

        Sample sample = Settings.read(Sample.class, Map.of("http.port", "3"), environment, file);

        assertThat(sample.httpPort()).isEqualTo(3);
        assertThat(sample.maxLag()).isEqualTo(2);
        assertThat(sample.waitTime()).isEqualTo(Duration.ofSeconds(1));
        assertThat(sample.loud()).isTrue();
        assertThat(sample.bootstrapServer()).isEqualTo("127.0.0.1:9092");
    }

    @Test
    void everyTypeIsRead() {
        Sample sample = environment(Map.of(
                "PURI_SCHEMA_REGISTRY", "https://registry:8443/v7",
                "PURI_WAIT_TIME", "500ms",
                "PURI_LOUD", "TRUE",
                "PURI_STATE_DIR", "/var/lib/puri",
                "PURI_ORIGINS", "a, b,,c",
                "PURI_PASSWORD", "hunter2"));

        assertThat(sample.schemaRegistry()).isEqualTo(URI.create("https://registry:8443/v7"));
        assertThat(sample.waitTime()).isEqualTo(Duration.ofMillis(500));
        assertThat(sample.loud()).isTrue();
        assertThat(sample.stateDir()).contains(Path.of("/var/lib/puri"));
        assertThat(sample.origins()).containsExactly("a", "b", "c");
        assertThat(sample.password()).contains(new Secret("hunter2"));
    }

    @Test
    void readsDurationsInEveryFormat() {
        Map<String, Duration> spellings = Map.of(
                "2s", Duration.ofSeconds(2),
                "30 s", Duration.ofSeconds(30),
                "250MS", Duration.ofMillis(250),
                "1m", Duration.ofMinutes(1),
                "1 min", Duration.ofMinutes(1),
                "PT0.5S", Duration.ofMillis(500));

        spellings.forEach((text, duration) -> assertThat(
                        environment(Map.of("PURI_WAIT_TIME", text)).waitTime())
                .as(text)
                .isEqualTo(duration));
    }

    @Test
    void blankCountsAsAbsent() {
        assertThat(environment(Map.of("PURI_HTTP_PORT", " ")).httpPort()).isEqualTo(8080);
    }

    @Test
    void allMistakesAreListedTogether() throws IOException {
        Path file = file("http.prot=1\n");
        Map<String, String> environment = Map.of(
                "PURI_HTTP_PORT", "eighty",
                "PURI_MAX_LAG", "0",
                "PURI_WAIT_TIME", "2 fortnights",
                "PURI_SCHEMA_REGISTRY", "localhost",
                "PURI_LOUD", "yes",
                "PURI_BOOTSTRAP_SERVERS", "b:9092");

        List<String> mistakes = mistakes(() -> Settings.read(Sample.class, Map.of("zzz", "1"), environment, file));

        assertThat(mistakes)
                .containsExactlyInAnyOrder(
                        "PURI_HTTP_PORT: \"eighty\" is invalid; expected: whole number, at least 0, at most 65535",
                        "PURI_MAX_LAG: \"0\" is invalid; expected: whole number, at least 1",
                        "PURI_WAIT_TIME: \"2 fortnights\" is invalid; expected: duration such as 500ms, 30s, 5m"
                                + " or PT30S, at least 100ms, at most PT1M",
                        "PURI_SCHEMA_REGISTRY: \"localhost\" is invalid; expected: URL such as"
                                + " http://127.0.0.1:8081/path",
                        "PURI_LOUD: \"yes\" is invalid; expected: true or false",
                        "--zzz: no such setting",
                        "PURI_BOOTSTRAP_SERVERS: no such setting; did you mean PURI_BOOTSTRAP_SERVER?",
                        "http.prot in " + file + ": no such setting; did you mean http.port?");
    }

    @Test
    void numbersBeyondTheirTypeAreRefused() {
        assertThat(mistakes(() -> environment(Map.of("PURI_HTTP_PORT", "99999999999"))))
                .hasSize(1);
        assertThat(mistakes(() -> environment(Map.of("PURI_WAIT_TIME", "999999999999999d"))))
                .hasSize(1);
    }

    @Test
    void aTooLargeDurationIsAnIllegalArgument() {
        assertThatThrownBy(() -> Settings.duration("999999999999999d"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("too large");
    }

    @Test
    void aSettingWithoutDefaultIsMandatory() {
        assertThat(mistakes(() -> Settings.read(Demanding.class, Map.of(), Map.of(), null)))
                .containsExactly("PURI_NAME: missing; The name.");
    }

    @Test
    void anExceptionOfTheRecordIsReportedAsAMistake() {
        assertThat(mistakes(() -> environment(Map.of("PURI_ORIGINS", "nowhere"))))
                .containsExactly("origins: nowhere is no origin");
    }

    @Test
    void settingsOfOtherServersMayShareTheEnvironment() {
        Map<String, String> environment =
                Map.of("PURI_STREAMS_PORT", "9", "PURI_RESOLVER", "http://r", "PURI_HTTP_PORT", "7");
        Settings settings = Settings.of(Map.of(), environment, null)
                .alsoAccepting(List.of(Other.class))
                .alsoAcceptingVariables("PURI_RESOLVER");

        assertThat(settings.read(Sample.class).httpPort()).isEqualTo(7);
        assertThat(mistakes(() -> Settings.read(Sample.class, Map.of(), environment, null)))
                .hasSize(2);
    }

    @Test
    void ignoresVariablesOfAKubernetesServiceNamedPuri() {
        Map<String, String> environment = Map.of(
                "PURI_PORT", "tcp://10.0.0.1:8080",
                "PURI_SERVICE_HOST", "10.0.0.1",
                "PURI_SERVICE_PORT_HTTP", "8080",
                "PURI_PORT_8080_TCP_ADDR", "10.0.0.1",
                "PURI_KAFKA_PORT", "tcp://10.0.0.2:9092");

        assertThat(environment(environment).kafka()).isEqualTo(KafkaProperties.NONE);
    }

    @Test
    void kafkaPropertiesPassThroughFromEverySource() throws IOException {
        Path file = file("kafka.client.id=file\nkafka.client.rack=file\nkafka.metadata.max.age.ms=file\n");
        Path commandConfig = Files.writeString(
                folder.resolve("client.properties"), "client.id=config\nclient.rack=config\nssl.protocol=TLSv1.3\n");
        Map<String, String> environment = Map.of(
                "PURI_KAFKA_SECURITY_PROTOCOL", "SASL_SSL",
                "PURI_KAFKA_CLIENT_ID", "environment",
                "PURI_COMMAND_CONFIG", commandConfig.toString());

        KafkaProperties kafka = Settings.read(Sample.class, Map.of("kafka.linger.ms", "5"), environment, file)
                .kafka();

        assertThat(kafka.byName())
                .isEqualTo(Map.of(
                        "security.protocol", "SASL_SSL",
                        "client.id", "environment",
                        "client.rack", "config",
                        "metadata.max.age.ms", "file",
                        "ssl.protocol", "TLSv1.3",
                        "linger.ms", "5"));
    }

    @Test
    void addressesInAClientFileApplyUnlessASettingOverridesThem() throws IOException {
        Path config = Files.writeString(
                folder.resolve("client.properties"),
                "bootstrap.servers=cloud:9092\nschema.registry.url=https://registry.cloud\n");
        Map<String, String> flags = Map.of("command.config", config.toString());

        Sample fromFile = Settings.read(Sample.class, flags, Map.of(), null);
        Sample fromEnvironment = Settings.read(Sample.class, flags, Map.of("PURI_BOOTSTRAP_SERVER", "near:9092"), null);

        assertThat(fromFile.bootstrapServer()).isEqualTo("cloud:9092");
        assertThat(fromFile.schemaRegistry()).isEqualTo(URI.create("https://registry.cloud"));
        assertThat(fromFile.kafka()).isEqualTo(KafkaProperties.NONE);
        assertThat(fromEnvironment.bootstrapServer()).isEqualTo("near:9092");
    }

    @Test
    void kafkaVariablesAreUnknownToAServerWithoutKafkaProperties() {
        assertThat(mistakes(() -> Settings.read(Plain.class, Map.of(), Map.of("PURI_KAFKA_ACKS", "1"), null)))
                .hasSize(1);
    }

    @Test
    void readsSecretsFromFiles() throws IOException {
        Path secret = Files.writeString(folder.resolve("secret"), "hunter2\n");
        Sample sample = environment(Map.of(
                "PURI_PASSWORD_FILE", secret.toString(),
                "PURI_KAFKA_SSL_KEY_PASSWORD_FILE", secret.toString(),
                "PURI_KAFKA_SASL_OAUTHBEARER_ASSERTION_FILE", "/jwt"));

        assertThat(sample.password()).contains(new Secret("hunter2"));
        assertThat(sample.kafka().byName())
                .isEqualTo(Map.of("ssl.key.password", "hunter2", "sasl.oauthbearer.assertion.file", "/jwt"));
    }

    @Test
    void aMissingSecretFileOrASecondSourceIsAMistake() {
        assertThat(mistakes(() -> environment(Map.of("PURI_PASSWORD_FILE", "/nowhere"))))
                .singleElement()
                .asString()
                .startsWith("PURI_PASSWORD_FILE: the file /nowhere cannot be read");
        assertThat(mistakes(() -> environment(Map.of("PURI_PASSWORD_FILE", "/x", "PURI_PASSWORD", "hunter2"))))
                .containsExactly("PURI_PASSWORD_FILE: PURI_PASSWORD is set too; set only one of them");
    }

    @Test
    void anEmptySecretFileIsAMistake() throws IOException {
        Path empty = Files.writeString(folder.resolve("secret"), " \n");

        assertThat(mistakes(() -> environment(Map.of(
                        "PURI_PASSWORD_FILE", empty.toString(), "PURI_KAFKA_SSL_KEY_PASSWORD_FILE", empty.toString()))))
                .containsExactlyInAnyOrder(
                        "PURI_PASSWORD_FILE: the file " + empty + " is empty",
                        "PURI_KAFKA_SSL_KEY_PASSWORD_FILE: the file " + empty + " is empty");
    }

    @Test
    void aMistakeOfARecordDoesNotShowThePasswordOfAUrl() {
        assertThat(mistakes(() -> environment(Map.of("PURI_ORIGINS", "http://user:hunter2@host"))))
                .containsExactly("origins: http://********@host has a user");
    }

    @Test
    void onlySecretsHaveAFileVariable() {
        assertThat(mistakes(() -> environment(Map.of("PURI_HTTP_PORT_FILE", "/x"))))
                .containsExactly("PURI_HTTP_PORT_FILE: no such setting; did you mean PURI_HTTP_PORT?");
    }

    @Test
    void aSettingsFileThatCannotBeReadIsAMistake() {
        assertThat(mistakes(() -> Settings.read(Sample.class, Map.of(), Map.of(), folder.resolve("absent"))))
                .singleElement()
                .asString()
                .startsWith("the settings file: the file ");
    }

    @Test
    void effectiveValuesShowNoSecret() {
        Sample sample = environment(Map.of(
                "PURI_PASSWORD", "hunter2",
                "PURI_SCHEMA_REGISTRY", "http://me:hunter2@registry:8081/v7",
                "PURI_WAIT_TIME", "1500ms",
                "PURI_KAFKA_SASL_JAAS_CONFIG", "login password=hunter2",
                "PURI_KAFKA_SECURITY_PROTOCOL", "SASL_SSL"));

        Map<String, String> effective = Settings.effective(sample);

        assertThat(effective)
                .containsEntry("schema.registry", "http://********@registry:8081/v7")
                .containsEntry("password", "********")
                .containsEntry("wait.time", "1500ms")
                .containsEntry("http.port", "8080")
                .containsEntry("kafka.sasl.jaas.config", "********")
                .containsEntry("kafka.security.protocol", "SASL_SSL");
        assertThat(effective + " " + sample.kafka() + sample.password()).doesNotContain("hunter2");
    }

    @Test
    void settingsOfANestedRecordAreListedInItsPlace() {
        Nesting nesting = Settings.read(
                Nesting.class, Map.of("max.rows", "5"), Map.of("PURI_PORT", "2", "PURI_API_KEY", "hunter2"), null);

        assertThat(nesting).isEqualTo(new Nesting(2, new Shared(5, Optional.of(new Secret("hunter2")))));
        assertThat(Settings.list(Nesting.class))
                .extracting(KnownSetting::key)
                .containsExactly("port", "max.rows", "api.key");
        assertThat(Settings.effective(nesting)).isEqualTo(Map.of("port", "2", "max.rows", "5", "api.key", "********"));
    }

    @Test
    void mistakesWithinANestedRecordAreListedWithTheOthers() {
        assertThat(mistakes(() -> Settings.read(
                        Nesting.class, Map.of("port", "x", "max.rows", "0", "max.row", "1"), Map.of(), null)))
                .hasSize(3);
        assertThat(mistakes(() -> Settings.read(Nesting.class, Map.of("port", "x", "max.rows", "13"), Map.of(), null)))
                .hasSize(2)
                .contains("max.rows: 13 is unlucky");
    }

    @Test
    void listsSettingsForDocumentation() {
        List<KnownSetting> list = Settings.list(Sample.class);

        assertThat(list).extracting(KnownSetting::key).contains("http.port", "command.config", "kafka.*");
        assertThat(list)
                .filteredOn(setting -> setting.key().equals("bootstrap.server"))
                .singleElement()
                .satisfies(setting -> {
                    assertThat(setting.environmentName()).isEqualTo("PURI_BOOTSTRAP_SERVER");
                    assertThat(setting.flag()).isEqualTo("--bootstrap-server");
                    assertThat(setting.byDefault()).isEqualTo("127.0.0.1:9092");
                });
    }

    private static Sample environment(Map<String, String> environment) {
        return Settings.read(Sample.class, Map.of(), environment, null);
    }

    private static List<String> mistakes(Runnable reading) {
        InvalidSettingsException invalid = catchThrowableOfType(InvalidSettingsException.class, reading::run);
        assertThat(invalid).as("nothing was refused").isNotNull();
        return invalid.mistakes();
    }

    private Path file(String content) throws IOException {
        return Files.writeString(folder.resolve("puri.properties"), content);
    }
}
