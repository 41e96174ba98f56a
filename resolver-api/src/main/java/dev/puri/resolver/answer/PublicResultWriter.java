package dev.puri.resolver.answer;

import static dev.puri.resolver.answer.JsonOut.ascii;

import dev.puri.resolver.table.LookUp;
import dev.puri.resolver.table.RecordView;
import dev.puri.resolver.table.Table;
import dev.puri.resolver.table.Verdict;
import dev.puri.schemas.identity.Handle;
import java.util.function.Predicate;

/**
 * Writes results of the public listener: the verdict, handles, and pURIs of collections that are declared public. It is
 * separate from {@link InternalResultWriter}, so that a new internal field does not become public. The field {@code
 * detail} is a constant, because a generated text might contain a pURI.
 */
public final class PublicResultWriter extends ResultWriter {
    private static final byte[] CANONICAL_HANDLE = ascii(",\"canonicalHandle\":\"");
    private static final byte[] MALFORMED_DETAIL =
            ascii(",\"detail\":\"a handle is expected: three letters, an underscore and " + Handle.RANDOM_LENGTH
                    + " characters\"");

    private final Predicate<String> isPublic;

    /**
     * @param table in which all references are looked up
     * @param isPublic whether the pURIs of a {@code namespace:collection} are public
     */
    public PublicResultWriter(Table table, JsonOut out, Predicate<String> isPublic) {
        super(table, out);
        this.isPublic = isPublic;
    }

    /** Does not look up a pURI: whether it exists or not, it is malformed, like any other text that is no handle. */
    @Override
    Verdict find(LookUp lookUp, byte[] text, int from, int to) {
        for (int i = from; i < to; i++) {
            if (text[i] == ':') {
                return lookUp.setWithoutRow(Verdict.MALFORMED);
            }
        }
        return lookUp.find(text, from, to);
    }

    @Override
    Verdict find(LookUp lookUp, String ref) {
        return Handle.looksLike(ref) ? lookUp.find(ref) : lookUp.setWithoutRow(Verdict.MALFORMED);
    }

    /** Prefetches only handles, so that not even the response time reveals whether a pURI exists. */
    @Override
    void prefetch(LookUp lookUp, byte[] text, int[] bounds, int count) {
        lookUp.prefetchHandles(text, bounds, count);
    }

    @Override
    void writeFieldsAfterVerdict(LookUp found) {
        RecordView row = found.row();
        if (row != null) {
            writeNames(row, PURI, HANDLE);
        }
        RecordView survivor = found.placement();
        if (found.verdict() == Verdict.MERGED && survivor != null) {
            writeNames(survivor, CANONICAL, CANONICAL_HANDLE);
        }
        if (found.verdict() == Verdict.MALFORMED) {
            out.put(MALFORMED_DETAIL);
        }
    }

    private void writeNames(RecordView row, byte[] puriField, byte[] handleField) {
        if (isPublic.test(row.collection())) {
            out.put(puriField).name(row).put('"');
        }
        if (row.hasHandle()) {
            out.put(handleField).handle(row).put('"');
        }
    }

    @Override
    void writeAfterResults() {}
}
