package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import java.util.Arrays;

/**
 * What the registrar keeps a pURI's registration under: 128 bits of SHA-256. The registration of an
 * erased identity stays for ever, and so may its key, which therefore must not spell the name.
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
