package dev.puri.resolver.live;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.tail.AvroValues;
import dev.puri.tail.AvroValues.UnreadableException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** What a change says: a name, and what stands under it now. */
sealed interface Content {
    Puri puri();

    /** Null when nothing stands there any more. */
    @Nullable
    Row row();

    boolean isErased();

    /** Read already. */
    record Known(Puri puri, @Nullable Row row) implements Content {
        @Override
        public boolean isErased() {
            return row == null;
        }
    }

    /** A record as it stands in the topic, read only if somebody wants it, and each time anew. */
    final class Unread implements Content {
        private final byte[] key;
        private final byte @Nullable [] value;
        private final AvroValues<IdentityRow> values;

        Unread(byte[] key, byte @Nullable [] value, AvroValues<IdentityRow> values) {
            this.key = key;
            this.value = value;
            this.values = values;
        }

        @Override
        public Puri puri() {
            return Puri.parse(new String(key, StandardCharsets.US_ASCII));
        }

        @Override
        public @Nullable Row row() {
            try {
                return value == null ? null : RowAvro.fromAvro(values.read(value));
            } catch (UnreadableException e) {
                throw new IllegalStateException("the table took what is no row, of " + puri(), e);
            }
        }

        @Override
        public boolean isErased() {
            return value == null;
        }
    }
}
