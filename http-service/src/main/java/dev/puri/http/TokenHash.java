package dev.puri.http;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** SHA-256 of a token: all that is kept of one. */
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

    /** Null when it is not 64 hexadecimal digits. */
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

    /** Takes as long whether they differ in the first byte or the last. */
    boolean isSame(TokenHash other) {
        return MessageDigest.isEqual(bytes, other.bytes);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof TokenHash hash && isSame(hash);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }
}
