package dev.puri.search.words;

import java.io.IOException;
import java.io.Reader;
import org.apache.lucene.analysis.CharFilter;

/** Replaces apostrophes with blanks, so that {@code rock'n'roll} and {@code rock n roll} have the same words. */
final class ApostropheFilter extends CharFilter {
    ApostropheFilter(Reader input) {
        super(input);
    }

    @Override
    public int read(char[] buffer, int offset, int length) throws IOException {
        int readCount = input.read(buffer, offset, length);
        for (int i = offset; i < offset + readCount; i++) {
            if (isApostrophe(buffer[i])) {
                buffer[i] = ' ';
            }
        }
        return readCount;
    }

    private static boolean isApostrophe(char c) {
        return c == '\'' || c == '\u2018' || c == '\u2019' || c == '\u02bc' || c == '\uff07';
    }

    @Override
    protected int correct(int offset) {
        return offset;
    }
}
