package dev.puri.resolver.table;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * From a reference, pURI or handle, to what the table says of it. Nearly all references are canonical
 * already, and lead from their bytes to a record without an object; any other spelling is left to {@link
 * Puri#parse} and {@link Handle#parse}.
 *
 * <p>Used by one thread, for one reference after the other; what was found is there until the next.
 */
public final class LookUp {
    /** Merges that are followed one after the other; a longer chain is answered without placement. */
    public static final int MAX_MERGES = 8;

    private static final byte[] NO_BYTES = {};

    private final Table table;
    private final RecordView asked;

    /** Made for the first merged row; most look-ups meet none. */
    private @Nullable RecordView survivor;

    private Verdict verdict = Verdict.UNKNOWN;
    private byte[] name = NO_BYTES;
    private int nameFrom;
    private int nameTo;
    private byte @Nullable [] canonical;
    private @Nullable String detail;
    private @Nullable RecordView row;
    private @Nullable RecordView placement;

    /**
     * @param table that is asked
     */
    public LookUp(Table table) {
        this.table = table;
        asked = table.newView();
    }

    /** Makes ready for looking up these, one after the other. */
    public void touch(byte[] text, int[] bounds, int count) {
        asked.touch(text, bounds, count);
    }

    /** The same of those that are handles. */
    public void touchHandles(byte[] text, int[] bounds, int count) {
        asked.touchHandles(text, bounds, count);
    }

    /** Looks up a reference of any form. */
    public Verdict find(String ref) {
        byte[] text = ref.getBytes(StandardCharsets.UTF_8);
        return findPlain(text, 0, text.length) ? verdict : findOther(ref);
    }

    /** The same of text[from..to), which is ASCII and is not to change meanwhile. */
    public Verdict find(byte[] text, int from, int to) {
        return findPlain(text, from, to)
                ? verdict
                : findOther(new String(text, from, to - from, StandardCharsets.US_ASCII));
    }

    /** False when it is no canonical pURI without escapes, and no handle in lower case. */
    private boolean findPlain(byte[] text, int from, int to) {
        int identifierAt = Puri.identifierOfPlain(text, from, to);
        if (identifierAt >= 0) {
            findName(text, from, identifierAt, to);
            return true;
        }
        begin();
        return switch (asked.findHandle(text, from, to)) {
            case NO_HANDLE -> false;
            case ABSENT -> true;
            case FOUND -> {
                found();
                yield true;
            }
        };
    }

    private Verdict findOther(String ref) {
        begin();
        try {
            return Handle.looksLike(ref) ? find(Handle.parse(ref)) : find(Puri.parse(ref));
        } catch (InvalidNameException e) {
            verdict = Verdict.MALFORMED;
            detail = e.getMessage();
        }
        return verdict;
    }

    /** Looks up a pURI. */
    public Verdict find(Puri puri) {
        byte[] text = puri.toBytes();
        findName(text, 0, puri.identifierIndex(), text.length);
        return verdict;
    }

    /** Looks up who bears a handle. */
    public Verdict find(Handle handle) {
        begin();
        byte[] text = handle.text().getBytes(StandardCharsets.US_ASCII);
        if (asked.findHandle(text, 0, text.length) == RecordView.Sought.FOUND) {
            found();
        }
        return verdict;
    }

    private void findName(byte[] text, int from, int identifierAt, int to) {
        begin();
        name = text;
        nameFrom = from;
        nameTo = to;
        if (asked.findName(text, from, identifierAt, to)) {
            found();
        }
    }

    /** Tells of something that was not even looked up. */
    public Verdict nothing(Verdict because) {
        begin();
        verdict = because;
        return because;
    }

    private void begin() {
        verdict = Verdict.UNKNOWN;
        nameFrom = 0;
        nameTo = 0;
        canonical = null;
        detail = null;
        row = null;
        placement = null;
    }

    private void found() {
        row = asked;
        switch (asked.status()) {
            case ACTIVE -> {
                verdict = Verdict.FOUND;
                placement = asked;
            }
            case DELETED -> verdict = Verdict.DELETED;
            case MERGED -> follow();
        }
    }

    private void follow() {
        verdict = Verdict.MERGED;
        RecordView end = survivor == null ? table.newView() : survivor;
        survivor = end;
        List<byte[]> passed = new ArrayList<>();
        byte[] here = asked.name();
        byte[] into = asked.survivor();
        while (passed.size() < MAX_MERGES) {
            passed.add(here);
            byte[] next = into;
            if (passed.stream().anyMatch(before -> Arrays.equals(before, next))) {
                detail = "its chain of merges leads back to " + text(into);
                return;
            }
            if (!end.findName(into, 0, afterColons(into), into.length)) {
                canonical = into;
                detail = "it was merged into " + text(into) + ", which is not known";
                return;
            }
            if (end.status() != Row.Status.MERGED) {
                canonical = into;
                if (end.status() == Row.Status.DELETED) {
                    verdict = Verdict.DELETED;
                } else {
                    placement = end;
                }
                return;
            }
            here = into;
            into = end.survivor();
        }
        detail = "its chain of merges is longer than " + MAX_MERGES;
    }

    /** Where the last segment of a canonical name begins. */
    private static int afterColons(byte[] canonical) {
        int at = canonical.length;
        while (canonical[at - 1] != ':') {
            at--;
        }
        return at;
    }

    private static String text(byte[] ascii) {
        return new String(ascii, StandardCharsets.US_ASCII);
    }

    /** What the last look-up came to. */
    public Verdict verdict() {
        return verdict;
    }

    /** Whether there is a canonical name: of what was asked as a pURI, or of a handle's bearer. */
    public boolean hasName() {
        return nameTo > 0 || row != null;
    }

    /** Writes that name, of {@value Puri#MAX_BYTES} bytes at most, and returns where it ends. */
    public int putName(byte[] out, int at) {
        RecordView known = row;
        if (nameTo > 0) {
            System.arraycopy(name, nameFrom, out, at, nameTo - nameFrom);
            return at + nameTo - nameFrom;
        }
        return known == null ? at : known.putName(out, at);
    }

    /** What was asked for; null when there is nothing. */
    public @Nullable RecordView row() {
        return row;
    }

    /** What says where the object is now: the row itself, or its survivor's; null when it is nowhere. */
    public @Nullable RecordView placement() {
        return placement;
    }

    /** The name of what a merged identity goes on as; null when it was not merged, or no end was found. */
    public byte @Nullable [] canonical() {
        return canonical;
    }

    /** Why it is malformed, or where a chain of merges breaks; null otherwise. */
    public @Nullable String detail() {
        return detail;
    }
}
