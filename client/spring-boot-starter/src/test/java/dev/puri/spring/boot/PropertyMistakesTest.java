package dev.puri.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.client.resolve.ResolverOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.support.SpringFactoriesLoader;

/** Which settings are refused, and with which message. */
class PropertyMistakesTest {
    private final ApplicationContextRunner runner = Contexts.runner();

    private List<String> mistakes(String... settings) {
        List<String> lines = new ArrayList<>();
        runner.withPropertyValues(settings).run(context -> {
            assertThat(context).hasFailed();
            Throwable failure = context.getStartupFailure();
            assertThat(failure).rootCause().isInstanceOf(InvalidPuriPropertiesException.class);
            while (failure.getCause() != null) {
                failure = failure.getCause();
            }
            failure.getMessage().lines().skip(1).map(String::strip).forEach(lines::add);
        });
        return lines;
    }

    @Test
    void defaultsAreThoseOfTheClient() {
        runner.withPropertyValues("puri.resolver.addresses=http://resolver:8080/")
                .run(context -> assertThat(
                                context.getBean(PuriProperties.class).resolver().options(null))
                        .isEqualTo(ResolverOptions.at("http://resolver:8080").build()));
    }

    @Test
    void allMistakesAreListedAtOnce() {
        List<String> lines = mistakes(
                "puri.kafka.bootstrap-servers=nonsense",
                "puri.kafka.properties.linger.ms=soon",
                "puri.resolver.addresses=http://a:1,http://b:1",
                "puri.resolver.adresses=http://c:1",
                "puri.resolver.deadline=later",
                "puri.resolver.max-batch=0",
                "puri.resolver.cache.size=-1",
                "puri.resolver.cache.replica-lag=1s",
                "puri.outbox.enabled=perhaps",
                "puri.outbox.dialect=oracle",
                "puri.outbox.relay.poll-interval=0s",
                "puri.collections=classpath:nothing.yaml");
        assertThat(lines).hasSize(12);
        assertThat(String.join("\n", lines))
                .contains("puri.kafka.properties.linger.ms=soon: ")
                .contains("puri.schema-registry.url: is not set")
                .contains("puri.resolver.adresses: there is no such setting; the nearest is puri.resolver.addresses")
                .contains("puri.resolver.deadline=later: is not a valid Duration")
                .contains("puri.resolver.max-batch: 0 is not 1 to 100000")
                .contains("puri.resolver.cache.size: -1 is less than 0")
                .contains("puri.resolver.cache.replica-lag: PT1S is less than")
                .contains("puri.outbox.enabled=perhaps: is not a valid boolean")
                .contains("puri.outbox.dialect=oracle: must be postgresql, mysql or mariadb")
                .contains("puri.outbox.relay.poll-interval=PT0S: must be positive")
                .contains("puri.collections=class path resource [nothing.yaml]: the file does not exist");
    }

    @Test
    void aSourceThatNoEventMayHaveIsNamed() {
        String rule = " must have 1 to 255 characters without control characters";
        assertThat(mistakes("puri.source=a\tb")).containsExactly("puri.source:" + rule);
        assertThat(mistakes("puri.source=" + "a".repeat(256))).containsExactly("puri.source:" + rule);
        assertThat(mistakes("spring.application.name=a\tb"))
                .containsExactly("spring.application.name:" + rule + "; or set puri.source");
    }

    @Test
    void noValueOfAnUnknownSettingIsPrinted() {
        assertThat(mistakes("puri.resolver.tokne=secret"))
                .singleElement()
                .asString()
                .contains("puri.resolver.tokne: there is no such setting; the nearest is puri.resolver.token")
                .doesNotContain("secret");
    }

    @Test
    void aVariableOfThePuriCommandIsNoMistakeAndNoSetting() {
        runner.withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .replace(
                                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                                new SystemEnvironmentPropertySource(
                                        StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                                        Map.of(
                                                "PURI_RESOLVER", "http://a:1",
                                                "PURI_SCHEMA_REGISTRY", "http://b:1",
                                                "PURI_SOURCE", "catalog"))))
                .withPropertyValues(
                        "puri.resolver.addresses=http://c:1", "puri.schema-registry.url=http://d:1,http://e:1")
                .run(context -> {
                    PuriProperties properties = context.getBean(PuriProperties.class);
                    assertThat(properties.source()).isEqualTo("catalog");
                    assertThat(properties.resolver().addresses()).containsExactly("http://c:1");
                    assertThat(properties.schemaRegistry().url()).containsExactly("http://d:1", "http://e:1");
                });
        assertThat(mistakes("puri.resolver=http://a:1"))
                .singleElement()
                .asString()
                .startsWith("puri.resolver: is a group of settings, such as puri.resolver.addresses");
    }

    @Test
    void anAddressThatIsNoUrlIsNamed() {
        assertThat(mistakes("puri.resolver.addresses=http://a b"))
                .singleElement()
                .asString()
                .startsWith("puri.resolver.addresses=http://a b: ");
        assertThat(mistakes("puri.resolver.addresses=resolver:8080"))
                .singleElement()
                .asString()
                .startsWith("puri.resolver.addresses: resolver:8080 is not a base URL");
    }

    @Test
    void brokerAndSchemaRegistryHaveTheirOwnSettings() {
        assertThat(mistakes(
                        "puri.kafka.properties.bootstrap.servers=a:1",
                        "puri.kafka.properties.schema.registry.url=http://b"))
                .containsExactlyInAnyOrder(
                        "puri.kafka.properties.bootstrap.servers=a:1: set puri.kafka.bootstrap-servers instead",
                        "puri.kafka.properties.schema.registry.url=http://b: set puri.schema-registry.url instead");
    }

    @Test
    void mistakesInTheFileOfCollectionsComeWithTheirLines() {
        assertThat(mistakes("puri.collections=classpath:wrong-collections.yaml"))
                .anyMatch(line -> line.contains("wrong-collections.yaml:2:"));
    }

    @Test
    void tokensAndPasswordsAreNotPrinted() {
        runner.withPropertyValues(
                        "puri.resolver.token=secret",
                        "puri.kafka.properties.ssl.key.password=secret",
                        "puri.resolver.addresses=http://a:1")
                .run(context -> assertThat(context.getBean(PuriProperties.class).toString())
                        .contains("ssl.key.password", "http://a:1")
                        .doesNotContain("secret"));
    }

    @Test
    void credentialsOfUrlsAreNotPrinted() {
        assertThat(String.join(
                        "\n",
                        mistakes(
                                "puri.resolver.addresses=http://ann:hidden@a:1",
                                "puri.kafka.properties.schema.registry.url=http://ann:hidden@b",
                                "puri.resolver.deadline=http://ann:hidden@c")))
                .contains("http://***@a:1", "http://***@b", "http://***@c")
                .doesNotContain("hidden");
        assertThat(mistakes("puri.resolver.addresses=http://ann:hid den@a:1"))
                .singleElement()
                .asString()
                .contains("http://***@a:1")
                .doesNotContain("den");
        runner.withPropertyValues("puri.schema-registry.url=http://ann:hidden@b:8081")
                .run(context -> {
                    assertThat(context.getBean(PuriProperties.class).toString())
                            .contains("http://***@b:8081")
                            .doesNotContain("hidden");
                    SanitizingFunction shown = context.getBean(SanitizingFunction.class);
                    for (String key : List.of("puri.schema-registry.url", "PURI_SCHEMA_REGISTRY_URL")) {
                        assertThat(shown.apply(new SanitizableData(null, key, "http://ann:hidden@b:8081"))
                                        .getValue())
                                .isEqualTo("http://***@b:8081");
                    }
                });
    }

    @Test
    void acceptsTimesOfAnyLength() {
        String centuries = "109500d";
        runner.withPropertyValues(
                        "puri.resolver.addresses=http://a:1,http://b:1",
                        "puri.resolver.deadline=" + centuries,
                        "puri.resolver.connect-timeout=" + centuries,
                        "puri.resolver.hedge-after=" + centuries,
                        "puri.resolver.cache.replica-lag=" + centuries,
                        "puri.resolver.cache.feed-silence=" + centuries,
                        "puri.outbox.relay.max-lag=" + centuries)
                .run(context -> {
                    ResolverOptions options =
                            context.getBean(PuriProperties.class).resolver().options(null);
                    assertThat(List.of(
                                    options.deadline(),
                                    options.connectTimeout(),
                                    options.replicaLag(),
                                    options.feedSilence()))
                            .allSatisfy(each -> assertThat(each.toNanos()).isPositive());
                });
        assertThat(mistakes("puri.resolver.addresses=http://a:1", "puri.resolver.deadline=-109500d"))
                .singleElement()
                .asString()
                .startsWith("puri.resolver.deadline: ")
                .contains("is not positive");
    }

    @Test
    void startUpPrintsTheMistakesInsteadOfAStackTrace() {
        runner.withPropertyValues("puri.resolver.deadline=later", "puri.resolver.max-batch=many")
                .run(context -> {
                    FailureAnalysis analysis = null;
                    for (FailureAnalyzer each : SpringFactoriesLoader.forDefaultResourceLocation()
                            .load(
                                    FailureAnalyzer.class,
                                    SpringFactoriesLoader.FailureHandler.handleMessage((message, failure) -> {}))) {
                        analysis = analysis == null ? each.analyze(context.getStartupFailure()) : analysis;
                    }
                    assertThat(analysis).isNotNull();
                    assertThat(analysis.getDescription())
                            .contains("puri.resolver.deadline=later", "puri.resolver.max-batch=many");
                });
    }
}
