package dev.puri.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.testkit.SchemaRegistryFixture;
import java.util.Map;
import java.util.UUID;
import org.apache.avro.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The same against a real Apicurio, through its Confluent API, and what only a real one can answer. */
class ApicurioContractIT extends ConfluentContract {
    private static final Schema EVENT = IdentityEvent.getClassSchema();

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
    void anUnknownIdSubjectAndSchemaAreToldFromFailures() {
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
    void aWrongBaseIsNoUnknownId() {
        String wrong = url().substring(0, url().indexOf("/apis"));
        try (ConfluentSchemaRegistry lost =
                ConfluentSchemaRegistry.create(Map.of("schema.registry.url", wrong, "max.retries", 0))) {
            assertThatThrownBy(() -> lost.byId(1))
                    .isInstanceOf(RegistryUnavailableException.class)
                    .hasMessageContainingAll("id 1", wrong);
        }
    }

    @Test
    void fullTransitiveRefusesWhatAnEarlierReaderOrWriterCannotLiveWith() {
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
    void withoutALevelApicurioTakesAnything() {
        registry.register(subject, EVENT);
        assertThat(registry.register(subject, eventWith("\"name\":\"puri\",\"type\":", "\"name\":\"puri2\",\"type\":")))
                .as("so the bootstrap must set one")
                .isPositive();
    }
}
