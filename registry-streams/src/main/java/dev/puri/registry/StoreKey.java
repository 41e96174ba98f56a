package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import java.util.Arrays;

/**
 * The key of a pURI in the registrar's stores: 128 bits of its SHA-256. The registration of an erased identity stays
 * for ever, so its key must not contain the name.
 */
final class StoreKey {
    private static final int BYTES = 16;

    private StoreKey() {}

    static byte[] of(Puri puri) {
        return of(puri.toBytes());
    }

    static byte[] of(byte[] puri) {
        return Arrays.copyOf(Sha256.of(puri).array(), BYTES);
    }
}
