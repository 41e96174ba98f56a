package dev.puri.schemas.serde;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.avro.Schema;

/**
 * The form in which schemas are registered: without the property {@code avro.java.string}, which only Avro's Java
 * implementation uses. The registered text is then that of {@code schemas/spec/avro}, so that a client in another
 * language that registers this file adds no version.
 */
public final class RegisteredForm {
    private static final String JAVA_STRING = "avro.java.string";
    private static final ObjectMapper JSON = new ObjectMapper();

    private RegisteredForm() {}

    /** Returns the schema without the property; the same object if it does not have it. */
    public static Schema of(Schema schema) {
        String text = schema.toString();
        if (!text.contains(JAVA_STRING)) {
            return schema;
        }
        try {
            JsonNode tree = JSON.readTree(text);
            removeFrom(tree);
            return new Schema.Parser().setValidateDefaults(false).parse(tree.toString());
        } catch (IOException e) {
            throw new UncheckedIOException("a schema that is no JSON: " + text, e);
        }
    }

    /** Whether both have the same registered form. */
    public static boolean isSame(Schema one, Schema other) {
        return one.equals(other) || of(one).equals(of(other));
    }

    private static void removeFrom(JsonNode node) {
        if (node instanceof ObjectNode object) {
            object.remove(JAVA_STRING);
        }
        node.forEach(RegisteredForm::removeFrom);
    }
}
