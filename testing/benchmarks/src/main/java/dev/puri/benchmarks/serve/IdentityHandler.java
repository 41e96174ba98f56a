package dev.puri.benchmarks.serve;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import java.util.Locale;

/** A baseline for {@code POST /v1/resolve}: it gives the answers of the resolver, from a store of identities. */
abstract class IdentityHandler extends Baseline {
    /** Looks up all references with one request to the store, and returns the body of the answer. */
    abstract Future<Buffer> resolve(JsonArray refs);

    @Override
    final void answer(HttpServerRequest request) {
        request.body()
                .compose(body -> resolve(body.toJsonObject().getJsonArray("refs")))
                .onSuccess(answer -> request.response()
                        .putHeader("Content-Type", "application/json")
                        .end(answer))
                .onFailure(failure -> request.response().setStatusCode(500).end(String.valueOf(failure.getMessage())));
    }

    /** Returns the key of a reference in the store. */
    static String key(String ref) {
        return ref.toLowerCase(Locale.ROOT);
    }

    static Buffer begin() {
        return Buffer.buffer(32 << 10).appendString("{\"results\":[");
    }

    /** Begins the result of a known reference: the fields {@code ref} and {@code verdict}. */
    static Buffer beginFound(Buffer answer, String ref) {
        return beginResult(answer, ref).appendString(",\"verdict\":\"found\",");
    }

    /** Writes the result of an unknown reference. */
    static void writeUnknown(Buffer answer, String ref) {
        beginResult(answer, ref).appendString(",\"verdict\":\"unknown\"");
        if (!isHandle(ref)) {
            answer.appendString(",\"puri\":").appendString(Json.encode(key(ref)));
        }
        answer.appendString("}");
    }

    private static Buffer beginResult(Buffer answer, String ref) {
        if (answer.getByte(answer.length() - 1) == '}') {
            answer.appendString(",");
        }
        return answer.appendString("{\"ref\":").appendString(Json.encode(ref));
    }

    static Buffer end(Buffer answer) {
        return answer.appendString("]}\n");
    }

    static boolean isHandle(String ref) {
        return ref.indexOf(':') < 0;
    }
}
