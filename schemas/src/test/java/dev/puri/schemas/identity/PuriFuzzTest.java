package dev.puri.schemas.identity;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.code_intelligence.jazzer.mutation.annotation.NotNull;
import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Any text is a pURI or an InvalidNameException: {@code mvn verify} runs the inputs of the spec's vectors, and
 * with {@code -Dpuri.fuzz=1} some millions that Jazzer derives from them in a minute.
 */
class PuriFuzzTest {
    static Stream<Arguments> inputs() throws IOException {
        return Stream.concat(Vectors.read("valid.json"), Vectors.read("invalid.json"))
                .map(vector -> Arguments.of(Vectors.text(vector, "input")));
    }

    @MethodSource("inputs")
    @FuzzTest(maxDuration = "60s")
    void anyTextIsAPuriOrAnInvalidName(@NotNull String text) {
        check(text);
    }

    static void check(String text) {
        Puri puri;
        try {
            puri = Puri.parse(text);
        } catch (InvalidNameException e) {
            assertThat(e.position()).isBetween(-1, text.length());
            assertThat(e.getMessage()).hasSizeLessThan(1500);
            return;
        }
        String canonical = puri.toString();
        assertThat(Puri.parse(canonical)).isEqualTo(puri).hasToString(canonical);
        assertThat(canonical).matches("[-._~!$&'()*+,;=@a-z0-9%A-F:]{5,383}");
        assertThat(Puri.of(
                        Canonicalizer.decode(puri.namespace()),
                        Canonicalizer.decode(puri.collection()),
                        puri.plainIdentifier()))
                .isEqualTo(puri);
    }
}
