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
 * Looks up references, which are pURIs or handles, in a table, and follows merges. Nearly all references are in
 * canonical form, and are looked up by their bytes, without a {@link Puri} or {@link Handle} object. Other spellings
 * are parsed first.
 *
 * <p>Not thread-safe. The getters return the result of the last look-up.
 */
public final class LookUp {
    /** The maximum number of merges that a look-up follows. A longer chain has no placement. */
    public static final int MAX_MERGES = 8;

    private static final byte[] NO_BYTES = {};

    private final Table table;
    private final RecordView view;

    /** Created for the first merged row, because most look-ups find none. */
    private @Nullable RecordView survivorView;

    private Verdict verdict = Verdict.UNKNOWN;
    private byte[] puriText = NO_BYTES;
    private int puriBegin;
    private int puriEnd;
    private byte @Nullable [] canonical;
    private @Nullable String detail;
    private @Nullable RecordView row;
    private @Nullable RecordView placement;

    /**
     * @param table the table to search
     */
    public LookUp(Table table) {
        this.table = table;
        view = table.newView();
    }

    /** Prefetches the memory that look-ups of these references read, see {@link RecordView#prefetch}. */
    public void prefetch(byte[] text, int[] bounds, int count) {
        view.prefetch(text, bounds, count);
    }

    /** Like {@link #prefetch}, but ignores pURIs. */
    public void prefetchHandles(byte[] text, int[] bounds, int count) {
        view.prefetchHandles(text, bounds, count);
    }

    /** Looks up a pURI or a handle in any spelling. */
    public Verdict find(String ref) {
        byte[] text = ref.getBytes(StandardCharsets.UTF_8);
        return findCanonical(text, 0, text.length) ? verdict : findParsed(ref);
    }

    /** Looks up the reference text[from..to), which is ASCII. The caller must not change it before the next look-up. */
    public Verdict find(byte[] text, int from, int to) {
        return findCanonical(text, from, to)
                ? verdict
                : findParsed(new String(text, from, to - from, StandardCharsets.US_ASCII));
    }

    /** Returns false if the text is neither a canonical pURI without escapes nor a handle in lower case. */
    private boolean findCanonical(byte[] text, int from, int to) {
        int identifierOffset = Puri.identifierIndexIfUnescaped(text, from, to);
        if (identifierOffset >= 0) {
            findPuri(text, from, identifierOffset, to);
            return true;
        }
        reset();
        return switch (view.findHandle(text, from, to)) {
            case NOT_A_HANDLE -> false;
            case ABSENT -> true;
            case FOUND -> {
                setRow();
                yield true;
            }
        };
    }

    private Verdict findParsed(String ref) {
        reset();
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
        findPuri(text, 0, puri.identifierIndex(), text.length);
        return verdict;
    }

    /** Looks up the identity with a handle. */
    public Verdict find(Handle handle) {
        reset();
        byte[] text = handle.text().getBytes(StandardCharsets.US_ASCII);
        if (view.findHandle(text, 0, text.length) == RecordView.HandleResult.FOUND) {
            setRow();
        }
        return verdict;
    }

    private void findPuri(byte[] text, int from, int identifierOffset, int to) {
        reset();
        puriText = text;
        puriBegin = from;
        puriEnd = to;
        if (view.findPuri(text, from, identifierOffset, to)) {
            setRow();
        }
    }

    /** Sets a verdict without a row, for a reference that the caller does not look up. Returns the verdict. */
    public Verdict setWithoutRow(Verdict newVerdict) {
        reset();
        verdict = newVerdict;
        return newVerdict;
    }

    private void reset() {
        verdict = Verdict.UNKNOWN;
        puriBegin = 0;
        puriEnd = 0;
        canonical = null;
        detail = null;
        row = null;
        placement = null;
    }

    /** Sets the result from the row that the view found. */
    private void setRow() {
        row = view;
        switch (view.status()) {
            case ACTIVE -> {
                verdict = Verdict.FOUND;
                placement = view;
            }
            case DELETED -> verdict = Verdict.DELETED;
            case MERGED -> followMerges();
        }
    }

    private void followMerges() {
        verdict = Verdict.MERGED;
        RecordView survivor = survivorView == null ? table.newView() : survivorView;
        survivorView = survivor;
        List<byte[]> visited = new ArrayList<>();
        byte[] currentPuri = view.puriBytes();
        byte[] survivorPuri = view.survivorBytes();
        while (visited.size() < MAX_MERGES) {
            visited.add(currentPuri);
            byte[] next = survivorPuri;
            if (visited.stream().anyMatch(puri -> Arrays.equals(puri, next))) {
                detail = "its chain of merges leads back to " + text(survivorPuri);
                return;
            }
            if (!survivor.findPuri(survivorPuri, 0, identifierOffsetOf(survivorPuri), survivorPuri.length)) {
                canonical = survivorPuri;
                detail = "it was merged into " + text(survivorPuri) + ", which is not known";
                return;
            }
            if (survivor.status() != Row.Status.MERGED) {
                canonical = survivorPuri;
                if (survivor.status() == Row.Status.DELETED) {
                    verdict = Verdict.DELETED;
                } else {
                    placement = survivor;
                }
                return;
            }
            currentPuri = survivorPuri;
            survivorPuri = survivor.survivorBytes();
        }
        detail = "its chain of merges is longer than " + MAX_MERGES;
    }

    /** Returns the offset of the last segment of a canonical pURI. */
    private static int identifierOffsetOf(byte[] canonical) {
        int offset = canonical.length;
        while (canonical[offset - 1] != ':') {
            offset--;
        }
        return offset;
    }

    private static String text(byte[] ascii) {
        return new String(ascii, StandardCharsets.US_ASCII);
    }

    /** Returns the result. */
    public Verdict verdict() {
        return verdict;
    }

    /** Whether a canonical pURI is known: the reference was a pURI, or an identity has the handle. */
    public boolean hasPuri() {
        return puriEnd > 0 || row != null;
    }

    /** Writes the canonical pURI, at most {@value Puri#MAX_BYTES} bytes, and returns the offset after it. */
    public int putPuri(byte[] out, int offset) {
        RecordView foundRow = row;
        if (puriEnd > 0) {
            System.arraycopy(puriText, puriBegin, out, offset, puriEnd - puriBegin);
            return offset + puriEnd - puriBegin;
        }
        return foundRow == null ? offset : foundRow.putPuri(out, offset);
    }

    /** Returns the row of the reference itself, also if it is merged or deleted; null if there is none. */
    public @Nullable RecordView row() {
        return row;
    }

    /** Returns the row that has the current owner and shard: the row itself or its survivor. Null if there is none. */
    public @Nullable RecordView placement() {
        return placement;
    }

    /**
     * Returns the pURI at the end of the chain of merges, even if it is deleted or unknown. Null if the row is not
     * merged, or if the chain is too long or a cycle.
     */
    public byte @Nullable [] canonical() {
        return canonical;
    }

    /** Returns why the reference is malformed, or where the chain of merges breaks; null otherwise. */
    public @Nullable String detail() {
        return detail;
    }
}
