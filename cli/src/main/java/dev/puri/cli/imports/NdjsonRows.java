package dev.puri.cli.imports;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import dev.puri.cli.io.LineReader;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a file with a JSON object on each line. Null and an empty text are empty values. An array or an object is
 * not a value of a column. A number with a fraction or an exponent becomes a decimal number with all of its digits.
 */
final class NdjsonRows implements RowSource {
    // Without these, the second of two objects on a line, or of two fields with one name, would be lost.
    private static final ObjectMapper JSON = new ObjectMapper()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            // A double would round, and 12345678.0 would become 1.2345678E7.
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .configure(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES, false);

    /** Numbers with larger exponents keep their exponent, because 1e999999999 has a billion digits. */
    private static final int MAX_SCALE = 1000;

    /** A row is a few names. A file without line ends would not fit into memory. */
    private static final int MAX_LINE_BYTES = 16 << 20;

    private final LineReader lines;

    NdjsonRows(Path file) throws IOException {
        lines = new LineReader(Files.newInputStream(file), MAX_LINE_BYTES);
    }

    @Override
    public @Nullable Set<String> columns() {
        return null;
    }

    @Override
    public @Nullable SourceRow next() throws IOException {
        LineReader.Line line;
        do {
            line = lines.next();
            if (line instanceof LineReader.Unreadable unreadable) {
                throw new IOException("line " + unreadable.number() + " is " + unreadable.reason());
            }
        } while (line instanceof LineReader.Text text && text.text().isBlank());
        return line instanceof LineReader.Text text ? row(text) : null;
    }

    private static SourceRow row(LineReader.Text line) throws IOException {
        JsonNode object;
        try {
            object = JSON.readTree(line.text());
        } catch (JsonProcessingException e) {
            throw new IOException("line " + line.number() + " is not JSON: " + e.getOriginalMessage(), e);
        }
        if (!object.isObject()) {
            throw new IOException("line " + line.number() + " is not a JSON object");
        }
        return values(object);
    }

    /** Returns the members of an object that are not empty, as text. */
    static SourceRow.Values values(JsonNode object) {
        Map<String, String> texts = new HashMap<>();
        Set<String> structured = Set.of();
        Set<String> fractional = Set.of();
        for (Map.Entry<String, JsonNode> member : object.properties()) {
            JsonNode value = member.getValue();
            if (value.isContainerNode()) {
                structured = structured.isEmpty() ? new HashSet<>() : structured;
                structured.add(member.getKey());
            } else if (!value.isNull() && !value.asText().isEmpty()) {
                texts.put(member.getKey(), text(value));
                if (value.isFloatingPointNumber()) {
                    fractional = fractional.isEmpty() ? new HashSet<>() : fractional;
                    fractional.add(member.getKey());
                }
            }
        }
        return new SourceRow.Values(texts, structured, fractional);
    }

    private static String text(JsonNode value) {
        if (!value.isBigDecimal()) {
            return value.asText();
        }
        BigDecimal number = value.decimalValue();
        return Math.abs(number.scale()) > MAX_SCALE ? number.toString() : number.toPlainString();
    }

    @Override
    public void close() throws IOException {
        lines.close();
    }
}
