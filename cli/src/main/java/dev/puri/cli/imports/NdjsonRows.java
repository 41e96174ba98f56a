package dev.puri.cli.imports;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a file with a JSON object on each line. Null and an empty text are empty values. Arrays and objects are no
 * values of a column.
 */
final class NdjsonRows implements RowSource {
    // Without these, the second of two objects on a line, or of two fields with one name, would be lost.
    private static final ObjectMapper JSON = new ObjectMapper()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);

    private final BufferedReader reader;
    private long lineNumber;

    NdjsonRows(Path file) throws IOException {
        reader = Files.newBufferedReader(file);
    }

    @Override
    public @Nullable Set<String> columns() {
        return null;
    }

    @Override
    public @Nullable SourceRow next() throws IOException {
        String line;
        do {
            line = readLine();
            lineNumber++;
        } while (line != null && line.isBlank());
        return line == null ? null : row(line);
    }

    private @Nullable String readLine() throws IOException {
        try {
            return reader.readLine();
        } catch (CharacterCodingException e) {
            throw new IOException("the file is not UTF-8", e);
        }
    }

    private SourceRow row(String line) throws IOException {
        JsonNode object;
        try {
            object = JSON.readTree(line);
        } catch (JsonProcessingException e) {
            throw new IOException("line " + lineNumber + " is not JSON: " + e.getOriginalMessage(), e);
        }
        if (!object.isObject()) {
            throw new IOException("line " + lineNumber + " is not a JSON object");
        }
        return values(object);
    }

    /** Returns the members of an object that are not empty, as text. */
    static SourceRow.Values values(JsonNode object) {
        Map<String, String> texts = new HashMap<>();
        Set<String> structured = Set.of();
        for (Map.Entry<String, JsonNode> member : object.properties()) {
            JsonNode value = member.getValue();
            if (value.isContainerNode()) {
                structured = structured.isEmpty() ? new HashSet<>() : structured;
                structured.add(member.getKey());
            } else if (!value.isNull() && !value.asText().isEmpty()) {
                texts.put(member.getKey(), value.asText());
            }
        }
        return new SourceRow.Values(texts, structured);
    }

    @Override
    public void close() throws IOException {
        reader.close();
    }
}
