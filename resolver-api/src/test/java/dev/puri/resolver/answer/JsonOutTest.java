package dev.puri.resolver.answer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import dev.puri.http.Timestamp;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Random;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class JsonOutTest {
    /** Otherwise Jackson would also escape characters beyond 16 bits. */
    private static final JsonFactory JACKSON = JsonFactory.builder()
            .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
            .build();

    private static final long SEED = new Random().nextLong();

    private final Random random = new Random(SEED);

    @Test
    void numbersUuidsAndTimesAreWrittenAsTheirTypesWriteThem() {
        for (int i = 0; i < 20_000; i++) {
            long value = random.nextLong() >> random.nextInt(64);
            assertNumber(value);
            UUID uuid = new UUID(random.nextLong(), value);
            assertThat(written(out -> out.uuid(uuid.getMostSignificantBits(), uuid.getLeastSignificantBits())))
                    .isEqualTo(uuid.toString());
            assertTime(value);
        }
        assertNumber(Long.MIN_VALUE);
        assertNumber(Long.MAX_VALUE);
        assertNumber(-1);
        for (String day : new String[] {
            "0000-01-01",
            "0000-02-29",
            "0000-03-01",
            "1600-02-29",
            "1900-02-28",
            "1900-03-01",
            "1969-12-31",
            "2000-02-29",
            "2026-12-31",
            "2100-03-01",
            "9999-12-31"
        }) {
            long noon = Instant.parse(day + "T12:34:56.789Z").toEpochMilli();
            assertTime(noon);
            assertTime(noon - 86_400_000);
            assertTime(noon + 86_400_000);
        }
        assertTime(Long.MIN_VALUE);
        assertTime(Long.MAX_VALUE);
    }

    private void assertNumber(long value) {
        assertThat(written(out -> out.number(value))).isEqualTo(Long.toString(value));
    }

    private void assertTime(long millis) {
        assertThat(written(out -> out.time(millis)))
                .as("%d, seed %d", millis, SEED)
                .isEqualTo(Timestamp.text(Instant.ofEpochMilli(millis)));
    }

    @Test
    void textIsEscapedAsJacksonDoes() throws IOException {
        for (int i = 0; i < 5_000; i++) {
            StringBuilder any = new StringBuilder();
            for (int left = random.nextInt(20); left > 0; left--) {
                any.append(
                        random.nextBoolean()
                                ? (char) random.nextInt(0x100)
                                : (char) random.nextInt(random.nextBoolean() ? 0x10000 : 0x5F));
                if (random.nextInt(5) == 0) {
                    any.appendCodePoint(0x1F600 + random.nextInt(50));
                }
            }
            String text = any.toString();
            ByteArrayOutputStream byJackson = new ByteArrayOutputStream();
            try (JsonGenerator json = JACKSON.createGenerator(byJackson)) {
                json.writeString(JsonOut.printable(text));
            }
            assertThat(written(out -> out.string(text)))
                    .as("seed %d", SEED)
                    .isEqualTo(byJackson.toString(StandardCharsets.UTF_8));
        }
    }

    private static String written(Consumer<JsonOut> writing) {
        JsonOut out = new JsonOut(1);
        writing.accept(out);
        return new String(out.bytes(), 0, out.length(), StandardCharsets.UTF_8);
    }
}
