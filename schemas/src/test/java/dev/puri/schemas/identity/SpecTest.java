package dev.puri.schemas.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.EnumSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The vectors of {@code schemas/spec}, which other implementations run too. */
class SpecTest {
    private static final Set<NameRule> NOT_IN_THE_SPEC = EnumSet.of(NameRule.BAD_OWNER, NameRule.BAD_SHARD);

    private static String name(JsonNode vector) {
        return Vectors.text(vector, "kind") + ": " + Vectors.text(vector, "name");
    }

    private static Object parse(JsonNode vector) {
        String input = Vectors.text(vector, "input");
        return switch (Vectors.text(vector, "kind")) {
            case "puri" -> Puri.parse(input);
            case "handle" -> Handle.parse(input);
            case "prefix" -> Prefix.parse(input);
            default -> throw new AssertionError("a vector of no kind: " + vector);
        };
    }

    @TestFactory
    Stream<DynamicTest> valid() throws IOException {
        return Vectors.read("valid.json")
                .map(vector -> DynamicTest.dynamicTest(name(vector), () -> {
                    Object parsed = parse(vector);
                    String canonical = Vectors.text(vector, "canonical");
                    assertThat(parsed).hasToString(canonical);
                    switch (Vectors.text(vector, "kind")) {
                        case "puri" -> assertPuri((Puri) parsed, vector, canonical);
                        case "handle" -> {
                            assertThat(((Handle) parsed).prefix()).hasToString(Vectors.text(vector, "prefix"));
                            assertThat(Handle.parse(canonical)).isEqualTo(parsed);
                        }
                        default -> assertThat(Prefix.parse(canonical)).isEqualTo(parsed);
                    }
                }));
    }

    private static void assertPuri(Puri puri, JsonNode vector, String canonical) {
        JsonNode segments = vector.path("segments");
        assertThat(puri.namespace()).isEqualTo(segments.path(0).asText());
        assertThat(puri.collection()).isEqualTo(segments.path(1).asText());
        assertThat(puri.identifier()).isEqualTo(segments.path(2).asText());
        assertThat(puri.qualifiedCollection()).isEqualTo(puri.namespace() + ':' + puri.collection());
        assertThat(puri.toBytes()).asString().isEqualTo(canonical);
        JsonNode plain = vector.path("plain");
        assertThat(puri.plainIdentifier()).isEqualTo(plain.path(2).asText());
        assertThat(Puri.of(
                        plain.path(0).asText(),
                        plain.path(1).asText(),
                        plain.path(2).asText()))
                .isEqualTo(puri);
        assertThat(Puri.parse(canonical))
                .isEqualTo(puri)
                .hasSameHashCodeAs(puri)
                .isEqualByComparingTo(puri);
    }

    @TestFactory
    Stream<DynamicTest> invalid() throws IOException {
        return Vectors.read("invalid.json")
                .map(vector -> DynamicTest.dynamicTest(name(vector), () -> {
                    InvalidNameException refused =
                            catchThrowableOfType(InvalidNameException.class, () -> parse(vector));
                    assertThat(refused).as("%s", vector).isNotNull();
                    assertThat(refused.rule()).hasToString(Vectors.text(vector, "rule"));
                    assertThat(refused.position())
                            .isEqualTo(vector.path("position").asInt(-1));
                    assertThat(refused.getMessage())
                            .as("a message is one line of printable ASCII, an ellipsis and a dash")
                            .matches("[ -~…–]+");
                }));
    }

    @Test
    void everyRuleHasAVector() throws IOException {
        Set<String> shown = new TreeSet<>();
        Vectors.read("invalid.json").forEach(vector -> shown.add(Vectors.text(vector, "rule")));
        assertThat(shown)
                .containsExactlyInAnyOrderElementsOf(EnumSet.complementOf(EnumSet.copyOf(NOT_IN_THE_SPEC)).stream()
                        .map(Enum::name)
                        .toList());
    }
}
