package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.UnknownSchemaException;
import java.time.Duration;
import java.time.InstantSource;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;

class EventParserTest {
    @Test
    void refusalOfAnUnknownSchemaDoesNotNameTheRegistrysAddress() {
        try (SchemaLookup schemas =
                new SchemaLookup(new KnowsNothing(), InstantSource.system(), Duration.ofSeconds(30), 1)) {
            Puri puri = Puri.parse("music:tracks:1");
            RawEvent raw = RawEvent.of(Position.parse("3-7"), puri.toBytes(), new byte[] {0, 0, 0, 0, 99, 1});

            assertThat(new EventParser(schemas).parse(puri, raw))
                    .isEqualTo(new EventParser.Invalid(Refusal.of(
                            Reason.UNDECODABLE, "the schema registry has no Avro schema 99 that can be read")));
        }
    }

    /** A schema registry whose address must not appear in messages. */
    private static final class KnowsNothing implements SchemaRegistry {
        @Override
        public Schema byId(int id) {
            throw new UnknownSchemaException("schema " + id + " at http://registry.internal:8081: not found", null);
        }

        @Override
        public int register(String subject, Schema schema) {
            throw new IllegalStateException();
        }

        @Override
        public int idOf(String subject, Schema schema) {
            throw new IllegalStateException();
        }

        @Override
        public void close() {}
    }
}
