package dev.puri.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.Any;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.serde.ConfluentSerde.Surroundings;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ConfluentSerializerContractTest extends ConfluentContract {
    private final FakeRegistry fake = new FakeRegistry();

    @Override
    String url() {
        return fake.url();
    }

    @AfterEach
    void stop() {
        fake.close();
    }

    @Test
    void oneConfigurationGivesBothTheSameCredentials() throws Exception {
        Map<String, Object> configs = Map.of(
                "schema.registry.url", url(),
                "avro.remove.java.properties", "true",
                "basic.auth.credentials.source", "USER_INFO",
                "basic.auth.user.info", "ann:s3cret");
        Object event = EventAvro.toAvro(Any.event(new Random(4)));
        try (AvroSerializer ours = new AvroSerializer();
                ConfluentSerde theirs = new ConfluentSerde(Surroundings.OURS, configs)) {
            ours.configure(configs, false);
            assertThat(theirs.serialize("t", event)).isEqualTo(Objects.requireNonNull(ours.serialize("t", event)));
        }
        assertThat(fake.requests)
                .hasSizeGreaterThanOrEqualTo(2)
                .extracting(FakeRegistry.Request::authorization)
                .containsOnly("Basic YW5uOnMzY3JldA==");
    }
}
