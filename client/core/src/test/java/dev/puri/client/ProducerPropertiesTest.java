package dev.puri.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.client.resolve.ResolverOptions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProducerPropertiesTest {
    private static Map<String, Object> with(String key, Object value) {
        Map<String, Object> properties = new HashMap<>();
        properties.put("bootstrap.servers", "127.0.0.1:1");
        properties.put(key, value);
        return properties;
    }

    @Test
    void propertiesThatWouldBreakTheRegistryAreAllNamed() {
        Map<String, Object> given = Map.of(
                "bootstrap.servers", "localhost:1",
                "acks", "1",
                "enable.idempotence", "false",
                "key.serializer", "x.Y",
                "partitioner.class", "x.Z",
                "partitioner.ignore.keys", true,
                "transactional.id", "t");
        assertThatThrownBy(() -> ProducerProperties.of(given))
                .isInstanceOf(IllegalArgumentException.class)
                .message()
                .contains("acks=1: must be all")
                .contains("enable.idempotence=false: must be true")
                .contains("partitioner.ignore.keys=true: must be false")
                .contains("partitioner.class=x.Z: must be absent")
                .contains("key.serializer=x.Y: must be absent")
                .contains("transactional.id=t: must be absent");
    }

    @Test
    void valuesThatKafkaDoesNotTakeAreAllNamedOnceWithTheOthers() {
        Map<String, Object> given = Map.of(
                "acks", "some",
                "linger.ms", "soon",
                "compression.type", "rar",
                "value.serializer", "x.Y",
                "retries", -1,
                "puri.resolver.url", "resolver:8080");
        assertThat(ProducerProperties.mistakes(given))
                .hasSize(7)
                .anySatisfy(each -> assertThat(each).isEqualTo("acks=some: must be all, or absent"))
                .anySatisfy(each -> assertThat(each).startsWith("bootstrap.servers: is missing"))
                .anySatisfy(each -> assertThat(each).startsWith("linger.ms=soon: Not a number"))
                .anySatisfy(each -> assertThat(each).startsWith("compression.type=rar: "))
                .anySatisfy(each -> assertThat(each).startsWith("value.serializer=x.Y: "))
                .anySatisfy(each -> assertThat(each).startsWith("retries=-1: "))
                .anySatisfy(each -> assertThat(each)
                        .startsWith("puri.resolver.url: ")
                        .contains("resolver:8080 is not a base URL")
                        .doesNotContain("\n"));
        assertThat(ProducerProperties.mistakes(with("bootstrap.servers", "broker")))
                .singleElement()
                .isEqualTo("bootstrap.servers=broker: must be host:port, separated by commas");
        assertThat(ProducerProperties.mistakes(with("bootstrap.servers", List.of("a:1", "[::1]:2"))))
                .isEmpty();
        assertThat(ProducerProperties.mistakes(with("bootstrap.servers", "a:1, b:2")))
                .isEmpty();
    }

    @Test
    void propertiesThatContradictOneAnotherAreNamed() {
        Map<String, Object> given = with("delivery.timeout.ms", "1000");
        given.put("request.timeout.ms", "900");
        given.put("linger.ms", "200");
        given.put("retries", "0");
        given.put("max.in.flight.requests.per.connection", "6");
        assertThat(ProducerProperties.mistakes(given))
                .containsExactly(
                        "delivery.timeout.ms=1000: must be at least linger.ms + request.timeout.ms, which is 1100",
                        "retries=0: must be above 0, or absent",
                        "max.in.flight.requests.per.connection=6: must be 5 at most");
    }

    @ParameterizedTest
    @CsvSource({
        // set, to, linger.ms, request.timeout.ms, delivery.timeout.ms, max.block.ms
        "client.id, x, 5, 10000, 30000, 30000",
        "delivery.timeout.ms, 3000, 5, 2995, 3000, 3000",
        "delivery.timeout.ms, 6, 3, 3, 6, 6",
        "delivery.timeout.ms, 120000, 5, 10000, 120000, 30000",
        "request.timeout.ms, 60000, 5, 60000, 60005, 30000",
        "request.timeout.ms, 100, 5, 100, 30000, 30000",
        "linger.ms, 100000, 100000, 10000, 110000, 30000",
        "linger.ms, 0, 0, 10000, 30000, 30000",
        "max.block.ms, 1, 5, 10000, 30000, 1",
    })
    void aTimeoutThatIsSetAloneGetsOthersThatFit(
            String key, String value, String linger, String request, String delivery, String maxBlock) {
        Map<String, Object> properties = ProducerProperties.of(with(key, value));
        assertThat(properties)
                .containsEntry("linger.ms", linger)
                .containsEntry("request.timeout.ms", request)
                .containsEntry("delivery.timeout.ms", delivery)
                .containsEntry("max.block.ms", maxBlock);
        // Kafka refuses timeouts that contradict one another here.
        new KafkaProducer<>(withoutRegistry(properties)).close();
    }

    private static Map<String, Object> withoutRegistry(Map<String, Object> properties) {
        Map<String, Object> all = new HashMap<>(properties);
        all.put("schema.registry.url", "http://127.0.0.1:1");
        return all;
    }

    @Test
    void aResolversUrlThatIsRefusedShowsNoPassword() {
        for (String url : List.of("http://ann:hidden@resolver:8080", "http://ann:hid den@resolver:8080")) {
            assertThat(ProducerProperties.mistakes(with(IdentityPublisher.RESOLVER_URL, url)))
                    .singleElement(InstanceOfAssertFactories.STRING)
                    .contains("http://***@resolver:8080")
                    .doesNotContain("hid");
            assertThatThrownBy(() -> ResolverOptions.at(url).build())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasNoCause()
                    .hasMessageContaining("http://***@resolver:8080");
        }
    }

    @Test
    void everythingElsePassesThrough() {
        Properties given = new Properties();
        given.setProperty("bootstrap.servers", "127.0.0.1:1");
        given.setProperty("value.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        given.setProperty("basic.auth.user.info", "me:secret");
        given.setProperty("acks", "all");
        assertThat(ProducerProperties.of(given))
                .containsEntry("value.serializer", "org.apache.kafka.common.serialization.StringSerializer")
                .containsEntry("basic.auth.user.info", "me:secret");
    }

    @Test
    void ourSerializerAndBoundedDeliveryAreTheDefault() {
        assertThat(ProducerProperties.of(with("avro.remove.java.properties", "false")))
                .containsEntry("avro.remove.java.properties", "false");
        assertThat(ProducerProperties.of(Map.of("bootstrap.servers", "127.0.0.1:1")))
                .containsEntry("avro.remove.java.properties", "true")
                .containsEntry("value.serializer", "dev.puri.schemas.log.EventSerializer")
                .containsEntry("acks", "all")
                .containsEntry("enable.idempotence", "true")
                .containsEntry("delivery.timeout.ms", "30000")
                .containsEntry("max.in.flight.requests.per.connection", "1");
    }
}
