package dev.puri.client.resolve;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A reference to look up: a pURI or a handle, and optionally the token of an event that the answer must include. Any other text is a
 * reference too; its verdict is {@link Verdict.Malformed}, so that one bad item does not spoil a list. Immutable.
 */
public final class Ref {
    private static final String A_PURI = "a pURI, namespace:collection:identifier,";
    private static final String A_HANDLE = "a handle, such as trk_4k7vx9tz2nqr8w3";

    private final String text;
    private final @Nullable Puri puri;
    private final @Nullable Handle handle;
    private final @Nullable String flaw;
    private final @Nullable Position at;

    private Ref(
            String text, @Nullable Puri puri, @Nullable Handle handle, @Nullable String flaw, @Nullable Position at) {
        this.text = text;
        this.puri = puri;
        this.handle = handle;
        this.flaw = flaw;
        this.at = at;
    }

    /**
     * Reads a pURI in any casing, or a handle. Any other text makes a malformed reference.
     *
     * @throws NullPointerException if the text is null
     */
    public static Ref of(String text) {
        return of(text, "text");
    }

    /** Reads a text, and names it in the exception if it is null. */
    static Ref of(String text, String parameter) {
        if (text == null) {
            throw isNull(parameter);
        }
        try {
            return Handle.looksLike(text) ? of(Handle.parse(text)) : of(Puri.parse(text));
        } catch (InvalidNameException e) {
            return new Ref(text, null, null, flaw(text), null);
        }
    }

    /** Says why a text is no pURI and why it is no handle, because the caller may have meant either. */
    private static String flaw(String text) {
        try {
            Puri.parse(text);
        } catch (InvalidNameException asPuri) {
            try {
                Handle.parse(text);
            } catch (InvalidNameException asHandle) {
                return asPuri.quotedInput() + " is neither " + A_PURI + " nor " + A_HANDLE + ". As a pURI"
                        + reason(asPuri) + ". As a handle" + reason(asHandle);
            }
        }
        throw new IllegalStateException("a text is malformed and a name: " + text);
    }

    private static String reason(InvalidNameException flaw) {
        return (flaw.position() < 0 ? ": " : ", at position " + flaw.position() + ": ") + flaw.explanation();
    }

    private static NullPointerException isNull(String parameter) {
        return new NullPointerException(parameter + " is null; it must be " + A_PURI + " or " + A_HANDLE);
    }

    /**
     * Returns the reference. For implementations of {@link IdentityResolver}.
     *
     * @throws NullPointerException if it is null
     */
    public static Ref requireRef(Ref ref) {
        if (ref == null) {
            throw isNull("ref");
        }
        return ref;
    }

    /**
     * Returns the references. For implementations of {@link IdentityResolver}.
     *
     * @throws NullPointerException if the list or one of its elements is null; the message has the index
     */
    public static List<Ref> requireRefs(List<Ref> refs) {
        if (refs == null) {
            throw new NullPointerException("refs is null");
        }
        int index = 0;
        for (Ref ref : refs) {
            if (ref == null) {
                throw isNull("refs[" + index + "]");
            }
            index++;
        }
        return refs;
    }

    /** A reference by pURI. */
    public static Ref of(Puri puri) {
        return new Ref(puri.toString(), puri, null, null, null);
    }

    /** A reference by handle. */
    public static Ref of(Handle handle) {
        return new Ref(handle.text(), null, handle, null, null);
    }

    /**
     * Reads many texts, as {@link #of(String)} does; the result is in their order.
     *
     * @throws NullPointerException if the list or one of its texts is null; the message has the index
     */
    public static List<Ref> all(List<String> texts) {
        if (texts == null) {
            throw new NullPointerException("texts is null");
        }
        List<Ref> refs = new ArrayList<>(texts.size());
        for (String text : texts) {
            refs.add(of(text, "texts[" + refs.size() + "]"));
        }
        return List.copyOf(refs);
    }

    /**
     * Returns this reference with the token of an event; a resolver answers it once it has seen the event.
     *
     * @param token the position that publishing the event returned
     */
    public Ref at(Position token) {
        return new Ref(text, puri, handle, flaw, token);
    }

    /** The canonical text; of a malformed reference, the text as it was given. */
    public String text() {
        return text;
    }

    /** The pURI; null when it is a handle or malformed. */
    public @Nullable Puri puri() {
        return puri;
    }

    /** The handle; null when it is a pURI or malformed. */
    public @Nullable Handle handle() {
        return handle;
    }

    /** Why it is malformed; null when it is not. */
    public @Nullable String flaw() {
        return flaw;
    }

    /** The token of the event that the answer must include; null for none. */
    public @Nullable Position at() {
        return at;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Ref that && text.equals(that.text) && Objects.equals(at, that.at);
    }

    @Override
    public int hashCode() {
        return 31 * text.hashCode() + Objects.hashCode(at);
    }

    /** The text, and the token behind an {@code @} if there is one. */
    @Override
    public String toString() {
        return at == null ? text : text + '@' + at;
    }
}
