package dev.puri.resolver.answer;

import static dev.puri.resolver.answer.JsonOut.ascii;

import dev.puri.resolver.table.LookUp;
import dev.puri.resolver.table.RecordView;
import dev.puri.resolver.table.Table;
import dev.puri.resolver.table.Verdict;
import dev.puri.schemas.identity.Handle;
import java.util.function.Predicate;

/**
 * Writes results for the public: the verdict, handles, and pURIs of collections that are declared public. It does not
 * filter the internal results but is separate, so that new internal fields do not become public. Details are fixed
 * texts, because other texts may contain a name.
 */
public final class PublicAnswer extends ResultWriter {
    private static final byte[] CANONICAL_HANDLE = ascii(",\"canonicalHandle\":\"");
    private static final byte[] MALFORMED =
            ascii(",\"detail\":\"a handle is expected: three letters, an underscore and " + Handle.RANDOM_LENGTH
                    + " characters\"");

    private final Predicate<String> isPublic;

    /**
     * @param table from which all results are read
     * @param isPublic whether the pURIs of a {@code namespace:collection} may be named
     */
    public PublicAnswer(Table table, JsonOut out, Predicate<String> isPublic) {
        super(table, out);
        this.isPublic = isPublic;
    }

    /** Treats a pURI, known or not, as malformed like any other text that is no handle. */
    @Override
    Verdict find(LookUp lookUp, byte[] text, int from, int to) {
        for (int i = from; i < to; i++) {
            if (text[i] == ':') {
                return lookUp.nothing(Verdict.MALFORMED);
            }
        }
        return lookUp.find(text, from, to);
    }

    @Override
    Verdict find(LookUp lookUp, String ref) {
        return Handle.looksLike(ref) ? lookUp.find(ref) : lookUp.nothing(Verdict.MALFORMED);
    }

    /** Does not look pURIs up, so that even the response time does not reveal whether one is known. */
    @Override
    void touch(LookUp lookUp, byte[] text, int[] bounds, int of) {
        lookUp.touchHandles(text, bounds, of);
    }

    @Override
    void writeRest(LookUp found) {
        RecordView row = found.row();
        if (row != null) {
            writeNames(row, PURI, HANDLE);
        }
        RecordView survivor = found.placement();
        if (found.verdict() == Verdict.MERGED && survivor != null) {
            writeNames(survivor, CANONICAL, CANONICAL_HANDLE);
        }
        if (found.verdict() == Verdict.MALFORMED) {
            out.put(MALFORMED);
        }
    }

    private void writeNames(RecordView row, byte[] asPuri, byte[] asHandle) {
        if (isPublic.test(row.collection())) {
            out.put(asPuri).name(row).put('"');
        }
        if (row.hasHandle()) {
            out.put(asHandle).handle(row).put('"');
        }
    }

    @Override
    void writeAfterResults() {}
}
