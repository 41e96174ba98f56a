package dev.puri.schemas.identity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.Any;
import dev.puri.schemas.Property;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PuriPropertyTest {
    private static final int ROUNDS = 20_000;

    @Test
    void canonicalisingIsIdempotentAndPrintsWhatItParses() {
        Property.forAll(ROUNDS, random -> {
            Puri puri = Any.puri(random);
            assertThat(Puri.parse(puri.toString())).isEqualTo(puri).hasToString(puri.toString());
            assertThat(puri.toString()).matches("[-._~!$&'()*+,;=@a-z0-9%A-F:]+");
            assertThat(puri.toBytes()).hasSizeLessThanOrEqualTo(Puri.MAX_BYTES);
        });
    }

    @Test
    void equalityIsBlindToCaseAndEscapes() {
        Property.forAll(ROUNDS, random -> {
            Puri puri = Any.puri(random);
            String disguised = disguise(puri, random);
            assertThat(Puri.parse(disguised)).as(disguised).isEqualTo(puri).hasSameHashCodeAs(puri);
        });
    }

    @Test
    void plainTextRoundTripsExceptForTheCaseOfAToZ() {
        Property.forAll(ROUNDS, random -> {
            String namespace = Any.plain(random, Puri.MAX_NAME_BYTES);
            String identifier = Any.plain(random, Puri.MAX_IDENTIFIER_BYTES);
            Puri puri = Puri.of(namespace, "c", identifier);
            assertThat(puri.plainIdentifier()).isEqualTo(lower(identifier));
            assertThat(Puri.of(namespace, "c", puri.plainIdentifier())).isEqualTo(puri);
        });
    }

    @Test
    void anyTextIsAPuriOrAnInvalidNameWithAPosition() {
        Property.forAll(ROUNDS, random -> PuriFuzzTest.check(garbage(random)));
    }

    @Test
    void handlesPrintWhatTheyParse() {
        Property.forAll(ROUNDS, random -> {
            Handle handle = Any.handle(random);
            String shouted = handle.toString().toUpperCase(Locale.ROOT);
            assertThat(Handle.parse(handle.toString())).isEqualTo(handle);
            assertThat(Handle.parse(shouted)).isEqualTo(handle);
            assertThat(Handle.of(handle.prefix(), handle.toString().substring(4)))
                    .isEqualTo(handle);
            assertThat(Handle.looksLike(shouted)).isTrue();
            assertThat(Handle.looksLike(Any.puri(random).toString())).isFalse();
        });
    }

    /** Another way to write the same pURI. */
    private static String disguise(Puri puri, Random random) {
        StringBuilder text = new StringBuilder();
        for (String segment : new String[] {puri.namespace(), puri.collection(), puri.identifier()}) {
            text.append(text.length() == 0 ? "" : ":");
            Canonicalizer.decode(segment).codePoints().forEach(codePoint -> {
                String character = Character.toString(codePoint);
                boolean mayBeRaw = codePoint >= 128
                        || Character.isLetterOrDigit(codePoint)
                        || "-._~!$&'()*+,;=@".indexOf(codePoint) >= 0;
                if (codePoint >= 'a' && codePoint <= 'z' && random.nextBoolean()) {
                    character = character.toUpperCase(Locale.ROOT);
                }
                if (mayBeRaw && random.nextBoolean()) {
                    text.append(character);
                    return;
                }
                for (byte b : character.getBytes(StandardCharsets.UTF_8)) {
                    text.append(String.format(random.nextBoolean() ? "%%%02x" : "%%%02X", b));
                }
            });
        }
        return text.toString();
    }

    private static String garbage(Random random) {
        String pieces = ":::::%%%%0123456789ABCDEFabcdef/ \u0000\u007f\u0085ä😀\ud800\udc00";
        StringBuilder text = new StringBuilder(random.nextBoolean() ? "a:b:" : "");
        for (int i = random.nextInt(30); i > 0; i--) {
            text.append(
                    random.nextInt(20) == 0
                            ? (char) random.nextInt(0x10000)
                            : pieces.charAt(random.nextInt(pieces.length())));
        }
        return text.toString();
    }

    private static String lower(String text) {
        StringBuilder lowered = new StringBuilder();
        text.chars().forEach(c -> lowered.append((char) (c >= 'A' && c <= 'Z' ? c + 32 : c)));
        return lowered.toString();
    }
}
