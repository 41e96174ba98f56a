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
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The body of {@code POST /v1/resolve}.
 *
 * @param refs the references in their order
 * @param byShard whether the response groups the results by shard
 */
record ResolveRequest(List<Ref> refs, boolean byShard) {
    /**
     * @param at the token of the event to wait for; null for none
     */
    record Ref(String ref, @Nullable String at) {}

    static final ProblemType NOT_JSON = new ProblemType("not-json", "The request's body is not JSON", 400);
    static final ProblemType INVALID_BODY =
            new ProblemType("invalid-body", "The request's body does not have the form of this path", 400);
    static final ProblemType TOO_MANY_REFS = new ProblemType("too-many-refs", "The batch has too many references", 400);

    private static final String BYTE_ORDER_MARK = "\ufeff";

    /** The part of Jackson's messages that names the source, and Jackson's settings instead of its text. */
    private static final Pattern JACKSON_SOURCE = Pattern.compile("\\s*\\(start marker at .*", Pattern.DOTALL);

    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(10).build())
            .build();

    /**
     * @param maxRefs maximum number of references
     * @throws RefusedException names the mistake and its position
     */
    static ResolveRequest parse(byte[] body, int maxRefs) throws RefusedException {
        return parse(body, maxRefs, Form.FULL);
    }

    /**
     * Parses a body of the public listener, which allows only {@code refs}, and only strings in it.
     *
     * @throws RefusedException names the mistake and its position
     */
    static List<String> parseHandles(byte[] body, int maxRefs) throws RefusedException {
        return parse(body, maxRefs, Form.HANDLES).refs().stream().map(Ref::ref).toList();
    }

    /** The form of a body: its fields, and its references. */
    private enum Form {
        FULL("refs and groupBy", "a pURI or a handle, or an object {\"ref\": …, \"at\": …}"),
        HANDLES("refs", "a handle");

        private final String knownFields;
        private final String expectedRef;

        Form(String knownFields, String expectedRef) {
            this.knownFields = knownFields;
            this.expectedRef = expectedRef;
        }
    }

    private static ResolveRequest parse(byte[] body, int maxRefs, Form form) throws RefusedException {
        try (JsonParser json = JSON.createParser(decodeUtf8(body))) {
            ResolveRequest request = parseObject(json, maxRefs, form);
            if (json.nextToken() != null) {
                throw notJson("something follows the object", json.currentLocation());
            }
            return request;
        } catch (JsonProcessingException e) {
            String mistake = JACKSON_SOURCE.matcher(e.getOriginalMessage()).replaceFirst("");
            throw notJson(mistake, e.getLocation());
        } catch (CharacterCodingException e) {
            throw notJson("the body is not UTF-8", null);
        } catch (IOException e) {
            throw new UncheckedIOException("reading from memory failed", e);
        }
    }

    /**
     * Decodes a body as UTF-8, the only encoding of JSON between systems (RFC 8259, 8.1). Jackson would guess the
     * encoding and accept overlong forms of characters.
     */
    private static String decodeUtf8(byte[] body) throws CharacterCodingException {
        String text = StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(body))
                .toString();
        return text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
    }

    private static ResolveRequest parseObject(JsonParser json, int maxRefs, Form form)
            throws IOException, RefusedException {
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
                refs = parseRefs(json, maxRefs, form);
            } else if (field.equals("groupBy") && form == Form.FULL) {
                byShard = parseGroupBy(json);
            } else {
                throw invalid("there is no such field; known: " + form.knownFields, "/" + escapedSegment(field));
            }
        }
        if (refs == null) {
            throw invalid("the field refs is missing", "");
        }
        return new ResolveRequest(refs, byShard);
    }

    private static List<Ref> parseRefs(JsonParser json, int maxRefs, Form form) throws IOException, RefusedException {
        if (json.currentToken() != JsonToken.START_ARRAY) {
            throw invalid("an array is expected", "/refs");
        }
        List<Ref> refs = new ArrayList<>();
        while (json.nextToken() != JsonToken.END_ARRAY) {
            if (refs.size() == maxRefs) {
                throw new RefusedException(
                        Problem.of(TOO_MANY_REFS, "At most " + maxRefs + " references are allowed in a batch.")
                                .with("maxRefs", maxRefs));
            }
            refs.add(parseRef(json, "/refs/" + refs.size(), form));
        }
        return refs;
    }

    private static Ref parseRef(JsonParser json, String pointer, Form form) throws IOException, RefusedException {
        if (json.currentToken() == JsonToken.VALUE_STRING) {
            return new Ref(json.getText(), null);
        }
        if (json.currentToken() != JsonToken.START_OBJECT || form == Form.HANDLES) {
            throw invalid("a string is expected, " + form.expectedRef, pointer);
        }
        String ref = null;
        String at = null;
        while (json.nextToken() != JsonToken.END_OBJECT) {
            String field = json.currentName();
            String fieldPointer = pointer + "/" + escapedSegment(field);
            boolean isRef = field.equals("ref");
            if (!isRef && !field.equals("at")) {
                throw invalid("there is no such field; known are ref and at", fieldPointer);
            }
            if (json.nextToken() != JsonToken.VALUE_STRING) {
                throw invalid("a string is expected, " + (isRef ? "a pURI or a handle" : "a token"), fieldPointer);
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

    /** Returns whether results are grouped by shard. */
    private static boolean parseGroupBy(JsonParser json) throws IOException, RefusedException {
        if (json.currentToken() == JsonToken.VALUE_NULL) {
            return false;
        }
        if (json.currentToken() != JsonToken.VALUE_STRING || !json.getText().equals("shard")) {
            throw invalid("only \"shard\" is possible", "/groupBy");
        }
        return true;
    }

    /** Escapes a segment of a JSON Pointer (RFC 6901). */
    private static String escapedSegment(String field) {
        return field.replace("~", "~0").replace("/", "~1");
    }

    private static RefusedException invalid(String mistake, String pointer) {
        String prefix = pointer.isEmpty() ? "" : "At " + JsonOut.printable(pointer) + ": ";
        return new RefusedException(
                Problem.of(INVALID_BODY, prefix + mistake + ".").with("pointer", JsonOut.printable(pointer)));
    }

    private static RefusedException notJson(String mistake, @Nullable JsonLocation location) {
        Problem problem = Problem.of(NOT_JSON, JsonOut.printable(mistake));
        return new RefusedException(
                location == null
                        ? problem
                        : problem.with("line", location.getLineNr()).with("column", location.getColumnNr()));
    }
}
