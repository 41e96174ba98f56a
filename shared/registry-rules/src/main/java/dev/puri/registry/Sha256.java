package dev.puri.registry;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Computes SHA-256 with one {@link MessageDigest} per thread, because each event needs several digests. */
final class Sha256 {
    static final int BYTES = 32;

    private static final ThreadLocal<MessageDigest> DIGEST = ThreadLocal.withInitial(() -> {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform must support SHA-256", e);
        }
    });

    private Sha256() {}

    /** Returns the digest of all parts, {@value #BYTES} bytes, ready to be read. */
    static ByteBuffer of(byte[]... parts) {
        MessageDigest digest = DIGEST.get();
        for (byte[] part : parts) {
            digest.update(part);
        }
        return ByteBuffer.wrap(digest.digest());
    }
}
