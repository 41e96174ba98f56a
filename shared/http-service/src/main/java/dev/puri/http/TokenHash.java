package dev.puri.http;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** The SHA-256 hash of a bearer token. The token itself is not stored. */
final class TokenHash {
    private static final int BYTES = 32;

    private final byte[] bytes;

    private TokenHash(byte[] bytes) {
        this.bytes = bytes;
    }

    static TokenHash of(String token) {
        try {
            return new TokenHash(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Parses a hash; returns null if the text is not 64 hexadecimal digits. */
    static @Nullable TokenHash parse(String hex) {
        if (hex.length() != 2 * BYTES) {
            return null;
        }
        try {
            return new TokenHash(HexFormat.of().parseHex(hex));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** Compares the hashes in constant time. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof TokenHash hash && MessageDigest.isEqual(bytes, hash.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }
}
