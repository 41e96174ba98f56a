package dev.puri.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;

class InMemorySchemaRegistryTest {
    private static final Schema TEXT = Schema.create(Schema.Type.STRING);
    private final InMemorySchemaRegistry registry = new InMemorySchemaRegistry();

    @Test
    void onlyRegistrationGivesASchemaAnIdInASubject() {
        assertThatThrownBy(() -> registry.idOf("a-value", TEXT)).isInstanceOf(UnknownSchemaException.class);
        int id = registry.register("a-value", TEXT);
        assertThat(registry.idOf("a-value", TEXT)).isEqualTo(id);
        assertThat(registry.byId(id)).isEqualTo(TEXT);
        assertThatThrownBy(() -> registry.idOf("b-value", TEXT)).isInstanceOf(UnknownSchemaException.class);
        assertThat(registry.register("b-value", TEXT)).isEqualTo(id);
    }
}
