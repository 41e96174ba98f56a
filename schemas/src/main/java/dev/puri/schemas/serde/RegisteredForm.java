package dev.puri.schemas.serde;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.avro.Schema;

/**
 * Converts schemas to the form in which they are registered: without the property {@code avro.java.string}, which only
 * Avro's Java implementation uses. The registered text then equals the file in {@code schemas/spec/avro}. So a client
 * in another language that registers this file does not add a version.
 */
public final class RegisteredForm {
    private static final String JAVA_STRING_PROPERTY = "avro.java.string";
    private static final ObjectMapper JSON = new ObjectMapper();

    private RegisteredForm() {}

    /** Returns the schema without the property. Returns the same object if the schema does not have the property. */
    public static Schema of(Schema schema) {
        String text = schema.toString();
        if (!text.contains(JAVA_STRING_PROPERTY)) {
            return schema;
        }
        try {
            JsonNode tree = JSON.readTree(text);
            removeProperty(tree);
            return new Schema.Parser().setValidateDefaults(false).parse(tree.toString());
        } catch (IOException e) {
            throw new UncheckedIOException("a schema is not JSON: " + text, e);
        }
    }

    /** Whether two schemas have the same registered form. */
    public static boolean isSame(Schema one, Schema other) {
        return one.equals(other) || of(one).equals(of(other));
    }

    private static void removeProperty(JsonNode node) {
        if (node instanceof ObjectNode object) {
            object.remove(JAVA_STRING_PROPERTY);
        }
        node.forEach(RegisteredForm::removeProperty);
    }
}
