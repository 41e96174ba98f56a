package dev.puri.search.words;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The names that a typed text may be: the pURI, the handle or the identifier of an identity. An identity with one of
 * these names ranks above all other hits.
 *
 * @param puri the text as a pURI; null if the text is not a pURI
 * @param handle the text as a handle; null if the text is not a handle
 * @param identifiers the text as an identifier, which is the third segment of a pURI: as plain text and, if the text
 *     contains a percent sign, also as escaped text
 */
public record NameCandidates(@Nullable Puri puri, @Nullable Handle handle, Set<String> identifiers) {
    /** Maximum number of identities with a typed name. If more identities have it, none ranks above other hits. */
    public static final int MAX_IDENTITIES = 256;

    /** Maximum length of a name, also if all of its characters are escaped. */
    private static final int MAX_CHARACTERS = Puri.MAX_BYTES;

    /** Parses typed text. The result is empty if the text cannot be a name. */
    public static NameCandidates parse(String typedText) {
        String text = typedText.strip();
        if (text.isEmpty() || text.length() > MAX_CHARACTERS) {
            return new NameCandidates(null, null, Set.of());
        }
        Puri puri = text.indexOf(':') < 0 ? null : orNull(() -> Puri.parse(text));
        Handle handle = text.length() == Handle.LENGTH ? orNull(() -> Handle.parse(text)) : null;
        Set<String> identifiers = new LinkedHashSet<>();
        addIdentifier(identifiers, orNull(() -> Puri.of("x", "x", text)));
        if (text.indexOf('%') >= 0) {
            addIdentifier(identifiers, orNull(() -> Puri.parse("x:x:" + text)));
        }
        return new NameCandidates(puri, handle, identifiers);
    }

    /** Returns whether the text cannot be a name. */
    public boolean isEmpty() {
        return puri == null && handle == null && identifiers.isEmpty();
    }

    private static void addIdentifier(Set<String> identifiers, @Nullable Puri puri) {
        if (puri != null) {
            identifiers.add(puri.identifier());
        }
    }

    private static <T> @Nullable T orNull(Supplier<T> parse) {
        try {
            return parse.get();
        } catch (InvalidNameException e) {
            return null;
        }
    }
}
