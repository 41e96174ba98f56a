package dev.puri.search.words;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * NameCandidates that what somebody typed may be: the object that has one comes first.
 *
 * @param puri in any casing, as it is written anywhere else; null when it is none
 * @param handle null when it is none
 * @param identifiers third segments of pURIs, as they are in these: of what was typed as plain text, and of what was
 *     typed with escapes
 */
public record NameCandidates(@Nullable Puri puri, @Nullable Handle handle, Set<String> identifiers) {
    /** So many objects may have an identifier that is typed; where more have, it names none of them. */
    public static final int MAX_OBJECTS = 256;

    /** No name is longer, even as plain text whose characters are all escaped. */
    private static final int MAX_CHARACTERS = Puri.MAX_BYTES;

    /** Reads what somebody typed. */
    public static NameCandidates of(String typed) {
        String text = typed.strip();
        if (text.isEmpty() || text.length() > MAX_CHARACTERS) {
            return new NameCandidates(null, null, Set.of());
        }
        Puri puri = text.indexOf(':') < 0 ? null : orNull(() -> Puri.parse(text));
        Handle handle = text.length() == Handle.LENGTH ? orNull(() -> Handle.parse(text)) : null;
        Set<String> identifiers = new LinkedHashSet<>();
        add(identifiers, orNull(() -> Puri.of("x", "x", text)));
        if (text.indexOf('%') >= 0) {
            add(identifiers, orNull(() -> Puri.parse("x:x:" + text)));
        }
        return new NameCandidates(puri, handle, identifiers);
    }

    /** Whether it cannot be a name. */
    public boolean areNone() {
        return puri == null && handle == null && identifiers.isEmpty();
    }

    private static void add(Set<String> identifiers, @Nullable Puri puri) {
        if (puri != null) {
            identifiers.add(puri.identifier());
        }
    }

    private static <T> @Nullable T orNull(Supplier<T> parsed) {
        try {
            return parsed.get();
        } catch (InvalidNameException e) {
            return null;
        }
    }
}
