package dev.puri.client.storage;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Prefix;

/** Mappings of handles to columns. All keep the order of the text, which is random. */
public final class HandleColumns {
    private static final ColumnMapping<Handle, String> TEXT = new ColumnMapping<>(
            "any handle",
            null,
            Handle.class,
            ColumnType.text(Handle.LENGTH),
            // Not Handle.parse, which takes capital letters: two texts in a column must not be one handle.
            Codec.of(Handle::text, Handle::new));

    private static final ColumnMapping<Handle, byte[]> ANY = new ColumnMapping<>(
            "any handle",
            null,
            Handle.class,
            ColumnType.binary(Bytes.PREFIX_BYTES + Bytes.RANDOM_BYTES),
            Codec.of(Bytes::ofHandle, Bytes::handle));

    private HandleColumns() {}

    /** Any handle as its text, 19 characters. */
    public static ColumnMapping<Handle, String> asText() {
        return TEXT;
    }

    /** Any handle in 12 bytes. */
    public static ColumnMapping<Handle, byte[]> asBinary() {
        return ANY;
    }

    /**
     * Handles of one collection in 10 bytes. The prefix is not stored; it is the collection's for ever.
     *
     * @param prefix of all handles in the column
     */
    public static ColumnMapping<Handle, byte[]> asBinary(Prefix prefix) {
        return new ColumnMapping<>(
                "handles " + prefix + "_",
                null,
                Handle.class,
                ColumnType.binary(Bytes.RANDOM_BYTES),
                Codec.of(
                        handle -> {
                            if (!handle.prefix().equals(prefix)) {
                                throw new IllegalArgumentException("it has another prefix");
                            }
                            return Bytes.ofRandom(handle);
                        },
                        bytes -> Bytes.handleOf(prefix, bytes)));
    }
}
