package dev.puri.cli.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LineReaderTest {
    @Test
    void linesEndWithLfOrCrLfAndTheLastMayHaveNoTerminator() throws IOException {
        assertThat(read("a\nb\r\n\nc", 10)).containsExactly("1 a", "2 b", "3 ", "4 c");
        assertThat(read("a\n", 10)).containsExactly("1 a");
        assertThat(read("", 10)).isEmpty();
    }

    @Test
    void aByteOrderMarkAtTheStartIsSkipped() throws IOException {
        assertThat(read("\uFEFFa\n\uFEFFb", 10)).containsExactly("1 a", "2 \uFEFFb");
    }

    @Test
    void aLineOverTheBoundIsReportedAndTheNextIsRead() throws IOException {
        assertThat(read("12345\n123456\n" + "x".repeat(200_000) + "\nok", 5))
                .containsExactly("1 12345", "2! longer than 5 bytes", "3! longer than 5 bytes", "4 ok");
    }

    @Test
    void aLineThatIsNotUtf8IsReportedAndTheNextIsRead() throws IOException {
        byte[] input = {'a', '\n', (byte) 0xC3, '\n', 'b'};
        assertThat(read(new ByteArrayInputStream(input), 10)).containsExactly("1 a", "2! not UTF-8 text", "3 b");
    }

    @Test
    void anySplitOfTheInputGivesTheSameLines() throws IOException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            StringBuilder text = new StringBuilder();
            for (int i = random.nextInt(400); i > 0; i--) {
                text.append("ab\r\n\né€".charAt(random.nextInt(7)));
            }
            byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
            assertThat(read(dripping(bytes, random), 20))
                    .as("seed %d round %d", seed, round)
                    .isEqualTo(read(new ByteArrayInputStream(bytes), 20));
        }
    }

    private static InputStream dripping(byte[] bytes, Random random) {
        return new ByteArrayInputStream(bytes) {
            @Override
            public synchronized int read(byte[] into, int offset, int length) {
                return super.read(into, offset, Math.min(length, 1 + random.nextInt(3)));
            }
        };
    }

    private static List<String> read(String text, int maxBytes) throws IOException {
        return read(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), maxBytes);
    }

    private static List<String> read(InputStream input, int maxBytes) throws IOException {
        LineReader reader = new LineReader(input, maxBytes);
        List<String> lines = new ArrayList<>();
        for (LineReader.Line line = reader.next(); line != null; line = reader.next()) {
            lines.add(
                    switch (line) {
                        case LineReader.Text text -> text.number() + " " + text.text();
                        case LineReader.Unreadable unreadable -> unreadable.number() + "! " + unreadable.reason();
                    });
        }
        return lines;
    }
}
