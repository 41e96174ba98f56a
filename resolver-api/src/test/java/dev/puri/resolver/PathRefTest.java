package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Puri;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class PathRefTest {
    @Test
    void anUnencodedPuriMeansItself() {
        Map<String, String> typed = Map.of(
                "soundcloud:tracks:1", "soundcloud:tracks:1",
                "debian:packages:libstdc++", "debian:packages:libstdc++",
                "debian:packages:a%2Fb", "debian:packages:a%2Fb",
                "debian:packages:a%3Ab", "debian:packages:a%3Ab",
                "debian:packages:a%20b", "debian:packages:a%20b",
                "debian:packages:caf%C3%A9", "debian:packages:caf%C3%A9",
                "debian:packages:café", "debian:packages:caf%C3%A9");

        typed.forEach((segment, puri) ->
                assertThat(Puri.parse(PathRef.decode(segment)).toString()).isEqualTo(puri));
    }

    @Test
    void decodesEncodingsOfUrlLibraries() {
        // encodeURIComponent and similar functions encode the colon; Go's PathEscape and JAX-RS do not.
        assertThat(PathRef.decode("debian%3Apackages%3Alibstdc%2B%2B")).isEqualTo("debian:packages:libstdc++");
        assertThat(PathRef.decode("debian%3apackages%3aa%252Fb")).isEqualTo("debian:packages:a%2Fb");
        assertThat(PathRef.decode("debian:packages:a%252Fb")).isEqualTo("debian:packages:a%2Fb");
        assertThat(PathRef.decode("debian%3Apackages%3Aa%253Ab")).isEqualTo("debian:packages:a%3Ab");
        assertThat(PathRef.decode("debian:packages:a%253Ab")).isEqualTo("debian:packages:a%3Ab");
        assertThat(PathRef.decode("debian%3Apackages%3A100%2525")).isEqualTo("debian:packages:100%25");
        assertThat(PathRef.decode("debian:packages:100%2525")).isEqualTo("debian:packages:100%25");
    }

    @Test
    void nothingIsDecodedTwice() {
        assertThat(PathRef.decode("a:b:%25253A")).isEqualTo("a:b:%253A");
        assertThat(PathRef.decode("a%3Ab%3A%25253A")).isEqualTo("a:b:%253A");
    }

    @Test
    void namesTheReferenceAsRequested() {
        assertThat(PathRef.decode("not%20a%20ref")).isEqualTo("not a ref");
        assertThat(PathRef.decode("debian:packages:caf%C3%A9")).isEqualTo("debian:packages:café");
        assertThat(PathRef.decode("debian:packages:a%0Ab")).isEqualTo("debian:packages:a\nb");
        // Decoded, it would be another pURI, or none.
        assertThat(PathRef.decode("debian:packages:a%20b")).isEqualTo("debian:packages:a%20b");
        assertThat(PathRef.decode("debian:packages:a%3Ab")).isEqualTo("debian:packages:a%3Ab");
        // Cannot be decoded.
        assertThat(PathRef.decode("debian:packages:%FF")).isEqualTo("debian:packages:%FF");
        assertThat(PathRef.decode("not%20a%2")).isEqualTo("not%20a%2");
    }

    @Test
    void handlesPassThrough() {
        assertThat(PathRef.decode("trk_4k7vx9tz2nqr8w3")).isEqualTo("trk_4k7vx9tz2nqr8w3");
    }

    @Test
    void anyPuriEncodedByALibraryIsThatPuri() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            Puri puri = Puri.of(text(random), text(random), text(random));
            String encoded =
                    URLEncoder.encode(puri.toString(), StandardCharsets.UTF_8).replace("+", "%20");

            assertThat(Puri.parse(PathRef.decode(encoded))).as("seed %d", seed).isEqualTo(puri);
            assertThat(Puri.parse(PathRef.decode(encoded.replace("%3A", ":"))))
                    .as("colons left raw, seed %d", seed)
                    .isEqualTo(puri);
        }
    }

    @Test
    void anyPuriWithoutAPercentSignInItsPlainTextMayBeUnencoded() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            Puri puri = Puri.of(
                    text(random).replace('%', 'x'),
                    text(random).replace('%', 'x'),
                    text(random).replace('%', 'x'));

            assertThat(Puri.parse(PathRef.decode(puri.toString())))
                    .as("seed %d", seed)
                    .isEqualTo(puri);
        }
    }

    private static String text(Random random) {
        String alphabet = "ab:%/?# +é€😀25AF";
        int[] points = alphabet.codePoints().toArray();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i <= random.nextInt(4); i++) {
            text.appendCodePoint(points[random.nextInt(points.length)]);
        }
        return text.toString();
    }
}
