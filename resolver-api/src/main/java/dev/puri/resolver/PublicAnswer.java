package dev.puri.resolver;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.resolver.table.Table;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.io.IOException;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What the public is told of a handle. It is not the internal answer with parts taken out, but one of its
 * own, so that what is added there is not told here: the verdict, handles, and pURIs where a collection is
 * declared public. Details are of a fixed text, as any other may have a name in it.
 */
final class PublicAnswer {
    /** The listener's name in metrics. */
    static final String LISTENER = "public";

    private static final String MALFORMED =
            "a handle is expected: three letters, an underscore and " + Handle.RANDOM_LENGTH + " characters";

    private final Predicate<Puri> isPublic;

    PublicAnswer(Predicate<Puri> isPublic) {
        this.isPublic = isPublic;
    }

    /** A pURI is as malformed here as anything else that is no handle, whether it is known or not. */
    static Result resolve(Table table, String ref) {
        return Handle.looksLike(ref) ? Resolution.resolve(table, ref) : Result.malformed(ref, MALFORMED);
    }

    void write(JsonGenerator json, Result result) throws IOException {
        json.writeStartObject();
        json.writeStringField("ref", ResultJson.printable(result.ref()));
        json.writeStringField("verdict", result.verdict().toString());
        writeName(json, "puri", result.puri(), "handle", result.row());
        if (result.verdict() == Verdict.MERGED && result.placement() != null) {
            writeName(json, "canonical", result.canonical(), "canonicalHandle", result.placement());
        }
        if (result.verdict() == Verdict.MALFORMED) {
            json.writeStringField("detail", MALFORMED);
        }
        json.writeEndObject();
    }

    private void writeName(JsonGenerator json, String asPuri, @Nullable Puri puri, String asHandle, @Nullable Row row)
            throws IOException {
        if (puri != null && isPublic.test(puri)) {
            json.writeStringField(asPuri, puri.toString());
        }
        if (row != null && row.handle() != null) {
            json.writeStringField(asHandle, row.handle().text());
        }
    }

    void writeBatch(JsonGenerator json, List<Result> results) throws IOException {
        json.writeStartObject();
        json.writeArrayFieldStart("results");
        for (Result result : results) {
            write(json, result);
        }
        json.writeEndArray();
        json.writeEndObject();
    }
}
