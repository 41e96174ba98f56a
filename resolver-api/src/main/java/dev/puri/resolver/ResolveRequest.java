package dev.puri.resolver;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.http.RefusedException;
import dev.puri.resolver.answer.JsonOut;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The body of {@code POST /v1/resolve}.
 *
 * @param refs the references, in order
 * @param byShard whether results are grouped by shard
 */
record ResolveRequest(List<Ref> refs, boolean byShard) {
    /**
     * @param at the token of the event that the table must have; null for none
     */
    record Ref(String ref, @Nullable String at) {}

    static final ProblemType NOT_JSON = new ProblemType("not-json", "The request's body is not JSON", 400);
    static final ProblemType INVALID_BODY =
            new ProblemType("invalid-body", "The request's body is not what this path takes", 400);
    static final ProblemType TOO_MANY_REFS = new ProblemType("too-many-refs", "The batch has too many references", 400);

    private static final String BYTE_ORDER_MARK = "\ufeff";

    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(10).build())
            .build();

    /**
     * @param maxRefs the most references
     * @throws RefusedException with the mistake and its place
     */
    static ResolveRequest parse(byte[] body, int maxRefs) throws RefusedException {
        return parse(body, maxRefs, Form.FULL);
    }

    /**
     * Parses a body of the public listener, which allows only {@code refs}, and only text in it.
     *
     * @throws RefusedException with the mistake and its place
     */
    static List<String> parseHandles(byte[] body, int maxRefs) throws RefusedException {
        return parse(body, maxRefs, Form.HANDLES).refs().stream().map(Ref::ref).toList();
    }

    /** The members that a body may have. */
    private enum Form {
        FULL("refs and groupBy", "a pURI or a handle, or an object {\"ref\": …, \"at\": …}"),
        HANDLES("refs", "a handle");

        private final String fields;
        private final String ref;

        Form(String fields, String ref) {
            this.fields = fields;
            this.ref = ref;
        }
    }

    private static ResolveRequest parse(byte[] body, int maxRefs, Form form) throws RefusedException {
        try (JsonParser json = JSON.createParser(text(body))) {
            ResolveRequest request = object(json, maxRefs, form);
            if (json.nextToken() != null) {
                throw notJson("something follows the object", json.currentLocation());
            }
            return request;
        } catch (JsonProcessingException e) {
            throw notJson(e.getOriginalMessage(), e.getLocation());
        } catch (CharacterCodingException e) {
            throw notJson("the body is not UTF-8", null);
        } catch (IOException e) {
            throw new UncheckedIOException("a body in memory", e);
        }
    }

    /**
     * Decodes a body as UTF-8, the only encoding of JSON between systems (RFC 8259, 8.1). Jackson would guess the
     * encoding and accept overlong forms of characters.
     */
    private static String text(byte[] body) throws CharacterCodingException {
        String text = StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(body))
                .toString();
        return text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
    }

    private static ResolveRequest object(JsonParser json, int maxRefs, Form form) throws IOException, RefusedException {
        JsonToken first = json.nextToken();
        if (first == null) {
            throw notJson("the body is empty", null);
        }
        if (first != JsonToken.START_OBJECT) {
            throw invalid("an object is expected, {\"refs\": [...]}", "");
        }
        List<Ref> refs = null;
        boolean byShard = false;
        while (json.nextToken() != JsonToken.END_OBJECT) {
            String field = json.currentName();
            json.nextToken();
            if (field.equals("refs")) {
                refs = refs(json, maxRefs, form);
            } else if (field.equals("groupBy") && form == Form.FULL) {
                byShard = groupsByShard(json);
            } else {
                throw invalid("there is no such field; known: " + form.fields, "/" + pointer(field));
            }
        }
        if (refs == null) {
            throw invalid("the field refs is missing", "");
        }
        return new ResolveRequest(refs, byShard);
    }

    private static List<Ref> refs(JsonParser json, int maxRefs, Form form) throws IOException, RefusedException {
        if (json.currentToken() != JsonToken.START_ARRAY) {
            throw invalid("an array is expected", "/refs");
        }
        List<Ref> refs = new ArrayList<>();
        while (json.nextToken() != JsonToken.END_ARRAY) {
            if (refs.size() == maxRefs) {
                throw new RefusedException(
                        Problem.of(TOO_MANY_REFS, "At most " + maxRefs + " references are taken at once.")
                                .with("maxRefs", maxRefs));
            }
            refs.add(ref(json, "/refs/" + refs.size(), form));
        }
        return refs;
    }

    private static Ref ref(JsonParser json, String pointer, Form form) throws IOException, RefusedException {
        if (json.currentToken() == JsonToken.VALUE_STRING) {
            return new Ref(json.getText(), null);
        }
        if (json.currentToken() != JsonToken.START_OBJECT || form == Form.HANDLES) {
            throw invalid("a string is expected, " + form.ref, pointer);
        }
        String ref = null;
        String at = null;
        while (json.nextToken() != JsonToken.END_OBJECT) {
            String field = json.currentName();
            String place = pointer + "/" + pointer(field);
            boolean isRef = field.equals("ref");
            if (!isRef && !field.equals("at")) {
                throw invalid("there is no such field; known are ref and at", place);
            }
            if (json.nextToken() != JsonToken.VALUE_STRING) {
                throw invalid("a string is expected, " + (isRef ? "a pURI or a handle" : "a token"), place);
            }
            if (isRef) {
                ref = json.getText();
            } else {
                at = json.getText();
            }
        }
        if (ref == null) {
            throw invalid("the field ref is missing", pointer);
        }
        return new Ref(ref, at);
    }

    private static boolean groupsByShard(JsonParser json) throws IOException, RefusedException {
        if (json.currentToken() == JsonToken.VALUE_NULL) {
            return false;
        }
        if (json.currentToken() != JsonToken.VALUE_STRING || !json.getText().equals("shard")) {
            throw invalid("\"shard\" is the one thing to group by", "/groupBy");
        }
        return true;
    }

    /** Escapes a segment of a JSON Pointer (RFC 6901). */
    private static String pointer(String field) {
        return field.replace("~", "~0").replace("/", "~1");
    }

    private static RefusedException invalid(String what, String pointer) {
        String where = pointer.isEmpty() ? "" : "At " + JsonOut.printable(pointer) + ": ";
        return new RefusedException(
                Problem.of(INVALID_BODY, where + what + ".").with("pointer", JsonOut.printable(pointer)));
    }

    private static RefusedException notJson(String what, @Nullable JsonLocation at) {
        Problem problem = Problem.of(NOT_JSON, JsonOut.printable(what));
        return new RefusedException(
                at == null ? problem : problem.with("line", at.getLineNr()).with("column", at.getColumnNr()));
    }
}
