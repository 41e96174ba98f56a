package dev.puri.resolver.answer;

import static dev.puri.resolver.answer.JsonOut.ascii;

import dev.puri.resolver.table.LookUp;
import dev.puri.resolver.table.Table;
import dev.puri.resolver.table.Verdict;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/**
 * Looks up references in a table and writes the results as JSON, one result or a batch. Used by one thread.
 */
public abstract sealed class ResultWriter permits InternalResultWriter, PublicResultWriter {
    static final byte[] PURI = ascii(",\"puri\":\"");
    static final byte[] CANONICAL = ascii(",\"canonical\":\"");
    static final byte[] HANDLE = ascii(",\"handle\":\"");
    private static final byte[] RESULTS = ascii("{\"results\":[");
    private static final byte[] REF = ascii("{\"ref\":");
    private static final Map<Verdict, byte[]> VERDICTS = new EnumMap<>(Verdict.class);

    static {
        for (Verdict verdict : Verdict.values()) {
            VERDICTS.put(verdict, ascii(",\"verdict\":\"" + verdict + '"'));
        }
    }

    final JsonOut out;
    private final LookUp lookUp;

    /** The number of results that were written. */
    int resultCount;

    /**
     * @param table in which all references are looked up
     */
    ResultWriter(Table table, JsonOut out) {
        lookUp = new LookUp(table);
        this.out = out;
    }

    /** Looks up the reference in text[from..to). */
    abstract Verdict find(LookUp lookUp, byte[] text, int from, int to);

    /** Looks up a reference. */
    abstract Verdict find(LookUp lookUp, String ref);

    /** Prefetches the memory that the look-ups of these references will read. */
    abstract void prefetch(LookUp lookUp, byte[] text, int[] bounds, int count);

    /** Writes the fields after {@code ref} and {@code verdict}. */
    abstract void writeFieldsAfterVerdict(LookUp found);

    /** Writes the fields after the results of a batch. */
    abstract void writeAfterResults();

    /** Begins a batch. The caller then writes its results and calls {@link #endBatch}. */
    public final void beginBatch() {
        out.put(RESULTS);
    }

    /** Ends a batch. */
    public final void endBatch() {
        out.put(']');
        writeAfterResults();
        out.put('}');
    }

    /**
     * Writes the result of the reference in text[from..to).
     *
     * @param text must need no escaping in JSON: ASCII without control characters, quotes and backslashes
     */
    public final Verdict write(byte[] text, int from, int to) {
        Verdict verdict = find(lookUp, text, from, to);
        putSeparator();
        out.put(REF).put('"').put(text, from, to).put('"');
        return finishResult(verdict);
    }

    /** Writes the result of a reference, which may have any characters. */
    public final Verdict write(String ref) {
        Verdict verdict = find(lookUp, ref);
        putSeparator();
        out.put(REF).string(ref);
        return finishResult(verdict);
    }

    /**
     * Prefetches the memory that the look-ups of these references will read. The caller then writes their results.
     *
     * @param bounds two indexes in the text for each reference: of its first byte, and after its last byte
     * @param count number of references
     */
    final void prefetch(byte[] text, int[] bounds, int count) {
        prefetch(lookUp, text, bounds, count);
    }

    private Verdict finishResult(Verdict verdict) {
        out.put(Objects.requireNonNull(VERDICTS.get(verdict)));
        writeFieldsAfterVerdict(lookUp);
        out.put('}');
        resultCount++;
        return verdict;
    }

    /** Writes a comma, except before the first result. */
    final void putSeparator() {
        if (resultCount > 0) {
            out.put(',');
        }
    }
}
