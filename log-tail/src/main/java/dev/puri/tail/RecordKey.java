package dev.puri.tail;

import dev.puri.schemas.identity.Puri;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Parses keys of the topics that are keyed by pURI. */
public final class RecordKey {
    private RecordKey() {}

    /**
     * Parses a key.
     *
     * @throws IllegalArgumentException when it is no pURI in canonical form
     */
    public static Puri puri(byte @Nullable [] key) {
        if (key == null) {
            throw new IllegalArgumentException("it has no key");
        }
        String text = new String(key, StandardCharsets.UTF_8);
        Puri puri = Puri.parse(text);
        if (!puri.toString().equals(text)) {
            throw new IllegalArgumentException("its key is not in canonical form, which is " + puri);
        }
        return puri;
    }
}
