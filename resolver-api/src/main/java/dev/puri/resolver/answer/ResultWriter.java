package dev.puri.resolver.answer;

import static dev.puri.resolver.answer.JsonOut.ascii;

import dev.puri.resolver.table.LookUp;
import dev.puri.resolver.table.Table;
import dev.puri.resolver.table.Verdict;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/**
 * Writes results as JSON, alone or in a batch. All results of a batch are read from one table. Used by one thread.
 */
public abstract sealed class ResultWriter permits InternalAnswer, PublicAnswer {
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

    /** The number of results written. */
    int count;

    /**
     * @param table from which all results are read
     */
    ResultWriter(Table table, JsonOut out) {
        lookUp = new LookUp(table);
        this.out = out;
    }

    /** Looks up the reference text[from..to). */
    abstract Verdict find(LookUp lookUp, byte[] text, int from, int to);

    /** Looks up a reference. */
    abstract Verdict find(LookUp lookUp, String ref);

    /** Prefetches the memory of these references. */
    abstract void touch(LookUp lookUp, byte[] text, int[] bounds, int of);

    /** Writes the members after {@code ref} and {@code verdict}. */
    abstract void writeRest(LookUp found);

    /** Writes the members after the results of a batch. */
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
     * Writes the result of the reference text[from..to).
     *
     * @param text needs no escaping in JSON: ASCII without control characters, quotes and backslashes
     */
    public final Verdict write(byte[] text, int from, int to) {
        Verdict verdict = find(lookUp, text, from, to);
        next();
        out.put(REF).put('"').put(text, from, to).put('"');
        return rest(verdict);
    }

    /** Writes the result of a reference of any characters. */
    public final Verdict write(String ref) {
        Verdict verdict = find(lookUp, ref);
        next();
        out.put(REF).string(ref);
        return rest(verdict);
    }

    /** Prefetches the memory of references whose results the caller writes next. */
    final void touch(byte[] text, int[] bounds, int of) {
        touch(lookUp, text, bounds, of);
    }

    private Verdict rest(Verdict verdict) {
        out.put(Objects.requireNonNull(VERDICTS.get(verdict)));
        writeRest(lookUp);
        out.put('}');
        count++;
        return verdict;
    }

    /** Writes the separator between results. */
    final void next() {
        if (count > 0) {
            out.put(',');
        }
    }
}
