package dev.puri.cli.verify;

import dev.puri.registry.RegistrarChangelogs;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** The key of a pURI in the registrar's stores: 128 bits of its SHA-256. */
record StoreKey(long high, long low) {
    /** Reads the key of a changelog record; null if it has another length. */
    static @Nullable StoreKey ofChangelogKey(byte @Nullable [] bytes) {
        if (bytes == null || bytes.length != 2 * Long.BYTES) {
            return null;
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new StoreKey(buffer.getLong(), buffer.getLong());
    }

    /** Returns the key of a pURI, given as the UTF-8 bytes of its canonical text. */
    static StoreKey ofPuri(byte[] puri) {
        ByteBuffer buffer = ByteBuffer.wrap(RegistrarChangelogs.key(puri));
        return new StoreKey(buffer.getLong(), buffer.getLong());
    }

    /** Returns whether the key is in this slice. */
    boolean isIn(Slice slice) {
        return (high & (slice.count() - 1)) == slice.index();
    }

    /** Returns 32 hexadecimal digits. */
    @Override
    public String toString() {
        HexFormat hex = HexFormat.of();
        return hex.toHexDigits(high) + hex.toHexDigits(low);
    }

    /**
     * One of several parts of all keys, of about the same size. If the keys of a comparison do not fit into memory, it
     * compares one slice after the other.
     *
     * @param index the lowest bits of the keys, as many as the count needs
     * @param count number of slices, a power of two
     */
    record Slice(int index, int count) {
        static final Slice ALL = new Slice(0, 1);

        /**
         * Returns one of the two halves of this slice.
         *
         * @param bit 0 or 1
         */
        Slice half(int bit) {
            return new Slice(index + bit * count, 2 * count);
        }
    }
}
