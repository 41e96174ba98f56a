package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.http.RefusedException;
import dev.puri.resolver.answer.InternalResultWriter;
import dev.puri.resolver.answer.JsonOut;
import dev.puri.resolver.answer.PlainBatch;
import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.collection.Declarations;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class PlainBatchTest {
    private static final long SEED = new Random().nextLong();
    private static final int MAX_REFS = 5;
    private static final String[] PIECES = {
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"refs\"",
        "\"groupBy\"",
        "\"shard\"",
        "null",
        " ",
        "\n",
        "\\",
        "\\u0061",
        "a",
        "{\"refs\":[",
        "\"a:b:c\"",
        "\"trk_4k7vx9tz2nqr8w3\"",
        "\0",
        "\u007f",
        "é",
        "7",
        "{\"ref\":\"a:b:c\"}",
        "/**/"
    };

    private final Random random = new Random(SEED);
    private final PackedTable table = new PackedTable();

    @Test
    void readsTheSameAsTheParser() throws RefusedException {
        int read = 0;
        for (int i = 0; i < 200_000; i++) {
            byte[] body = any().getBytes(StandardCharsets.UTF_8);
            PlainBatch plain = new PlainBatch();
            if (!plain.read(body, MAX_REFS)) {
                continue;
            }
            read++;
            // Throws if it is not a plain batch.
            ResolveRequest request = ResolveRequest.parse(body, MAX_REFS);
            assertThat(plain.byShard()).isEqualTo(request.byShard());
            JsonOut ofPlain = new JsonOut();
            plain.write(new InternalResultWriter(table, Declarations.none(), ofPlain, plain.byShard()));
            JsonOut ofParsed = new JsonOut();
            InternalResultWriter answer =
                    new InternalResultWriter(table, Declarations.none(), ofParsed, request.byShard());
            answer.beginBatch();
            request.refs().forEach(ref -> answer.write(ref.ref()));
            answer.endBatch();
            assertThat(text(ofPlain)).as("seed %d", SEED).isEqualTo(text(ofParsed));
        }
        assertThat(read).isGreaterThan(500);
    }

    @Test
    void leavesOtherBodiesToTheParser() {
        for (String body : new String[] {
            "",
            "{}",
            "{\"groupBy\":\"shard\"}",
            "{\"refs\":[\"a\"],\"refs\":[\"a\"]}",
            "{\"refs\":[\"a\",]}",
            "{\"refs\":[\"\\u0061\"]}",
            "{\"refs\":[\"é\"]}",
            "{\"refs\":[{\"ref\":\"a\"}]}",
            "{\"refs\":[\"a\"],\"groupBy\":\"owner\"}",
            "{\"refs\":[\"a\"]}x",
            "{\"refs\":[\"a\"",
            "{\"refs\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\"]}"
        }) {
            assertThat(new PlainBatch().read(body.getBytes(StandardCharsets.UTF_8), MAX_REFS))
                    .as(body)
                    .isFalse();
        }
    }

    /** A batch that is valid, or has one or two pieces too many, missing or misplaced. */
    private String any() {
        StringBuilder body = new StringBuilder("{\"refs\":[");
        for (int left = random.nextInt(4); left > 0; left--) {
            body.append(PIECES[17 + random.nextInt(2)]).append(left > 1 ? "," : "");
        }
        body.append(']');
        if (random.nextBoolean()) {
            body.append(",\"groupBy\":").append(PIECES[9 + random.nextInt(2)]);
        }
        body.append('}');
        for (int spoilt = random.nextInt(3); spoilt > 0; spoilt--) {
            int at = random.nextInt(body.length());
            if (random.nextBoolean()) {
                body.insert(at, PIECES[random.nextInt(PIECES.length)]);
            } else {
                body.deleteCharAt(at);
            }
        }
        return body.toString();
    }

    private static String text(JsonOut out) {
        return new String(out.bytes(), 0, out.length(), StandardCharsets.UTF_8);
    }
}
