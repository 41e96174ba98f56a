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
            // Not Handle.parse, which accepts capital letters: two texts in a column must not be the same handle.
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
     * Maps handles of one collection to 10 bytes. The prefix is not stored; it belongs to the collection for ever.
     *
     * @param prefix the prefix of all handles in the column
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
