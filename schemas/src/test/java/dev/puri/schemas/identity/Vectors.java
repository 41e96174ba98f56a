package dev.puri.schemas.identity;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** The vectors of {@code schemas/spec}. */
final class Vectors {
    private Vectors() {}

    static Stream<JsonNode> read(String file) throws IOException {
        JsonNode array = new ObjectMapper().readTree(Path.of("spec", file).toFile());
        return StreamSupport.stream(array.spliterator(), false);
    }

    static String text(JsonNode vector, String field) {
        JsonNode value = vector.path(field);
        assertThat(value.isTextual()).as("%s in %s", field, vector).isTrue();
        return value.asText();
    }
}
