package dev.puri.cli.io;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Creates digests without a checked exception. */
public final class Digests {
    private Digests() {}

    public static MessageDigest sha256() {
        return create("SHA-256");
    }

    /** Creates a digest of an algorithm that every Java platform has. */
    public static MessageDigest create(String algorithm) {
        try {
            return MessageDigest.getInstance(algorithm);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has " + algorithm, e);
        }
    }
}
