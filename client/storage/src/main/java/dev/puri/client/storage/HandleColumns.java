package dev.puri.client.storage;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Prefix;

/** Mappings of handles to columns. The values have the order of the handles' texts, which is random. */
public final class HandleColumns {
    private static final ColumnMapping<Handle, String> ANY_AS_TEXT = new ColumnMapping<>(
            "any handle",
            null,
            Handle.class,
            ColumnType.text(Handle.LENGTH),
            // Not Handle.parse, which also accepts capital letters: two different texts in the column must not be the
            // same handle.
            new Codec<>(Handle::text, Handle::new));

    private static final ColumnMapping<Handle, byte[]> ANY_AS_BINARY = new ColumnMapping<>(
            "any handle",
            null,
            Handle.class,
            ColumnType.binary(Bytes.PREFIX_BYTES + Bytes.RANDOM_BYTES),
            new Codec<>(Bytes::ofHandle, Bytes::handle));

    private HandleColumns() {}

    /** Maps any handle to its text of 19 characters. */
    public static ColumnMapping<Handle, String> asText() {
        return ANY_AS_TEXT;
    }

    /** Maps any handle to 12 bytes. */
    public static ColumnMapping<Handle, byte[]> asBinary() {
        return ANY_AS_BINARY;
    }

    /**
     * Maps handles of one collection to 10 bytes. The prefix is not stored, because a collection never changes its
     * prefix.
     *
     * @param prefix the prefix of all handles in the column
     */
    public static ColumnMapping<Handle, byte[]> asBinary(Prefix prefix) {
        return new ColumnMapping<>(
                "handles " + prefix + "_",
                null,
                Handle.class,
                ColumnType.binary(Bytes.RANDOM_BYTES),
                new Codec<>(
                        handle -> {
                            if (!handle.prefix().equals(prefix)) {
                                throw new IllegalArgumentException("its prefix is not " + prefix);
                            }
                            return Bytes.ofRandom(handle);
                        },
                        bytes -> Bytes.handleOf(prefix, bytes)));
    }
}
