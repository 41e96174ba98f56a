package dev.puri.tail;

import dev.puri.schemas.identity.Puri;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Parses record keys of topics whose keys are pURIs. */
public final class RecordKey {
    private RecordKey() {}

    /**
     * Parses a key.
     *
     * @throws IllegalArgumentException if the key is missing or is not a pURI in canonical form
     */
    public static Puri puri(byte @Nullable [] key) {
        if (key == null) {
            throw new IllegalArgumentException("the record has no key");
        }
        String text = new String(key, StandardCharsets.UTF_8);
        Puri puri = Puri.parse(text);
        if (!puri.toString().equals(text)) {
            throw new IllegalArgumentException("the key is not in canonical form, which is " + puri);
        }
        return puri;
    }
}
