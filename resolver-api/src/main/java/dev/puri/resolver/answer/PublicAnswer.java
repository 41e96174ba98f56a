package dev.puri.resolver.answer;

import static dev.puri.resolver.answer.JsonOut.ascii;

import dev.puri.resolver.table.LookUp;
import dev.puri.resolver.table.RecordView;
import dev.puri.resolver.table.Table;
import dev.puri.resolver.table.Verdict;
import dev.puri.schemas.identity.Handle;
import java.util.function.Predicate;

/**
 * What the public is told of a handle. It is not the internal answer with parts taken out, but one of its
 * own, so that what is added there is not told here: the verdict, handles, and pURIs where a collection is
 * declared public. Details are of a fixed text, as any other may have a name in it.
 */
public final class PublicAnswer extends ResultWriter {
    private static final byte[] CANONICAL_HANDLE = ascii(",\"canonicalHandle\":\"");
    private static final byte[] MALFORMED =
            ascii(",\"detail\":\"a handle is expected: three letters, an underscore and " + Handle.RANDOM_LENGTH
                    + " characters\"");

    private final Predicate<String> isPublic;

    /**
     * @param table of which everything is answered
     * @param isPublic whether the pURIs of a {@code namespace:collection} may be named
     */
    public PublicAnswer(Table table, JsonOut out, Predicate<String> isPublic) {
        super(table, out);
        this.isPublic = isPublic;
    }

    /** A pURI is as malformed here as anything else that is no handle, whether it is known or not. */
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

    /** Not even the time that an answer takes tells whether a pURI is known. */
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
