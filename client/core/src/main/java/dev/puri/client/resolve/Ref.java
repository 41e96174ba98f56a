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
 * A reference to look up: a pURI or a handle, and optionally the token of an event that the answer must include. A
 * reference can also be any other text, so that one malformed text does not fail a whole list; its verdict is {@link
 * Verdict.Malformed}. Immutable.
 */
public final class Ref {
    private static final String PURI_DESCRIPTION = "a pURI, namespace:collection:identifier,";
    private static final String HANDLE_DESCRIPTION = "a handle, such as trk_4k7vx9tz2nqr8w3";

    private final String text;
    private final @Nullable Puri puri;
    private final @Nullable Handle handle;
    private final @Nullable String flaw;
    private final @Nullable Position token;

    private Ref(
            String text,
            @Nullable Puri puri,
            @Nullable Handle handle,
            @Nullable String flaw,
            @Nullable Position token) {
        this.text = text;
        this.puri = puri;
        this.handle = handle;
        this.flaw = flaw;
        this.token = token;
    }

    /**
     * Parses a handle or a pURI, in upper or lower case. Returns a malformed reference for any other text.
     *
     * @throws NullPointerException if the text is null
     */
    public static Ref of(String text) {
        return of(text, "text");
    }

    /** Does {@link #of(String)}. The exception names the parameter if the text is null. */
    static Ref of(String text, String parameter) {
        if (text == null) {
            throw nullReference(parameter);
        }
        try {
            return Handle.looksLike(text) ? of(Handle.parse(text)) : of(Puri.parse(text));
        } catch (InvalidNameException e) {
            return new Ref(text, null, null, flaw(text), null);
        }
    }

    /** Explains why a text is not a pURI and why it is not a handle, because the caller may have meant either. */
    private static String flaw(String text) {
        try {
            Puri.parse(text);
        } catch (InvalidNameException asPuri) {
            try {
                Handle.parse(text);
            } catch (InvalidNameException asHandle) {
                return asPuri.quotedInput() + " is neither " + PURI_DESCRIPTION + " nor " + HANDLE_DESCRIPTION
                        + ". As a pURI" + reason(asPuri) + ". As a handle" + reason(asHandle);
            }
        }
        throw new IllegalStateException("bug: a text is a valid name, but was found malformed: " + text);
    }

    private static String reason(InvalidNameException flaw) {
        return (flaw.position() < 0 ? ": " : ", at position " + flaw.position() + ": ") + flaw.explanation();
    }

    private static NullPointerException nullReference(String parameter) {
        return new NullPointerException(
                parameter + " is null; it must be " + PURI_DESCRIPTION + " or " + HANDLE_DESCRIPTION);
    }

    /**
     * Returns the reference if it is not null. For implementations of {@link IdentityResolver}.
     *
     * @throws NullPointerException if the reference is null
     */
    public static Ref requireRef(Ref ref) {
        if (ref == null) {
            throw nullReference("ref");
        }
        return ref;
    }

    /**
     * Returns the references if none is null. For implementations of {@link IdentityResolver}.
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
                throw nullReference("refs[" + index + "]");
            }
            index++;
        }
        return refs;
    }

    /** Returns a reference by pURI. */
    public static Ref of(Puri puri) {
        return new Ref(puri.toString(), puri, null, null, null);
    }

    /** Returns a reference by handle. */
    public static Ref of(Handle handle) {
        return new Ref(handle.text(), null, handle, null, null);
    }

    /**
     * Parses each text as {@link #of(String)} does. The result has the order of the texts.
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
     * Returns this reference with the token of an event. The resolver then waits until it has read the event. If the
     * wait ends first, the verdict is {@link Verdict.NotCaughtUp}.
     *
     * @param token the position that publishing the event returned
     */
    public Ref at(Position token) {
        return new Ref(text, puri, handle, flaw, token);
    }

    /** The canonical text; for a malformed reference the original text. */
    public String text() {
        return text;
    }

    /** The pURI; null if this is a handle or malformed. */
    public @Nullable Puri puri() {
        return puri;
    }

    /** The handle; null if this is a pURI or malformed. */
    public @Nullable Handle handle() {
        return handle;
    }

    /** Why this reference is malformed; null if it is not. */
    public @Nullable String flaw() {
        return flaw;
    }

    /** The token of the event that the answer must include; null for none. */
    public @Nullable Position token() {
        return token;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Ref that && text.equals(that.text) && Objects.equals(token, that.token);
    }

    @Override
    public int hashCode() {
        return 31 * text.hashCode() + Objects.hashCode(token);
    }

    /** Returns the text and, if there is a token, {@code @} and the token. */
    @Override
    public String toString() {
        return token == null ? text : text + '@' + token;
    }
}
