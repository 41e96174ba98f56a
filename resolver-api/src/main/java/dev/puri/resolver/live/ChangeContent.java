package dev.puri.resolver.live;

import dev.puri.projection.AvroValueDecoder;
import dev.puri.projection.AvroValueDecoder.UnreadableException;
import dev.puri.projection.wait.EventOutcome;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The content of a change: a pURI and its row. */
sealed interface ChangeContent {
    Puri puri();

    /** The row after the change; null if the change is an erasure. */
    @Nullable
    Row row();

    boolean isErased();

    /** Decoded content. */
    record Decoded(Puri puri, @Nullable Row row) implements ChangeContent {
        @Override
        public boolean isErased() {
            return row == null;
        }
    }

    /**
     * An encoded record of the topic. The record is decoded when it is accessed and not when it is added, because most
     * changes are never read. Each access decodes it again.
     */
    final class Encoded implements ChangeContent {
        private final byte[] key;
        private final byte @Nullable [] value;
        private final byte @Nullable [] token;
        private final AvroValueDecoder<IdentityRow> values;

        /**
         * @param token the token of the event that caused the record, from the record's header; null if the record
         *     has no such header, and then the row keeps its own position
         */
        Encoded(byte[] key, byte @Nullable [] value, byte @Nullable [] token, AvroValueDecoder<IdentityRow> values) {
            this.key = key;
            this.value = value;
            this.token = token;
            this.values = values;
        }

        @Override
        public Puri puri() {
            return Puri.parse(new String(key, StandardCharsets.US_ASCII));
        }

        @Override
        public @Nullable Row row() {
            try {
                Row row = value == null ? null : RowAvro.fromAvro(values.read(value));
                return row == null || token == null
                        ? row
                        : EventOutcome.withPosition(Position.parse(new String(token, StandardCharsets.US_ASCII)), row);
            } catch (UnreadableException e) {
                throw new IllegalStateException("the table accepted a record of " + puri() + " that is not a row", e);
            }
        }

        @Override
        public boolean isErased() {
            return value == null;
        }
    }
}
