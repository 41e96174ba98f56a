package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import java.util.Arrays;

/**
 * The key of a pURI in the registrar's stores: the first 128 bits of its SHA-256. The key does not contain the pURI,
 * because the registration of an erased identity stays in the store for ever.
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
