package dev.puri.resolver;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.nio.charset.StandardCharsets;
import org.apache.avro.Schema;

/**
 * Records of {@code puri.identities.v1} read as the resolver reads them, so that baselines decode no
 * slower than the table does. Used by one thread.
 */
public final class RowReading {
    private final RowDecoder decoder = new RowDecoder();
    private final Schema writer;

    /**
     * @param writer the schema of all values
     */
    public RowReading(Schema writer) {
        this.writer = writer;
    }

    /**
     * @throws IllegalArgumentException when the key is no pURI
     */
    public Puri puri(byte[] key) {
        return Puri.parse(new String(key, StandardCharsets.UTF_8));
    }

    /**
     * @throws org.apache.kafka.common.errors.SerializationException when the value is no record
     * @throws IllegalArgumentException when the value is no row that the registry wrote
     */
    public Row row(byte[] value) {
        return decoder.decode(value, writer);
    }
}
