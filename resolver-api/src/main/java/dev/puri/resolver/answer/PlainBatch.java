package dev.puri.resolver.answer;

import static dev.puri.resolver.answer.JsonOut.ascii;

import dev.puri.resolver.table.Verdict;
import java.util.Arrays;

/**
 * A fast parser of the usual JSON body of a batch look-up: references in ASCII without escapes, and optionally {@code
 * groupBy}. It copies nothing. It rejects any other body, valid or not. The caller then uses a complete JSON parser,
 * which also explains mistakes.
 *
 * <p>Used by one thread, for one body after the other.
 */
public final class PlainBatch {
    private static final byte[] REFS = ascii("\"refs\"");
    private static final byte[] GROUP_BY = ascii("\"groupBy\"");
    private static final byte[] SHARD = ascii("\"shard\"");
    private static final byte[] NULL = ascii("null");

    private byte[] body = {};

    /** Index of the next byte of the body to parse. */
    private int index;

    /** Two indexes for each reference: of its first byte, and after its last byte. */
    private int[] bounds = new int[256];

    /** Number of references; -1 before the field {@code refs}. */
    private int count;

    private boolean hasGroupBy;
    private boolean byShard;

    /**
     * Parses a body. The caller must not change the array until it has written the results.
     *
     * @return false if the body has another form or too many references
     */
    public boolean read(byte[] json, int maxRefs) {
        body = json;
        index = 0;
        count = -1;
        byShard = false;
        hasGroupBy = false;
        if (!skip('{')) {
            return false;
        }
        do {
            if (count < 0 && skip(REFS)) {
                if (!skip(':') || !readRefs(maxRefs)) {
                    return false;
                }
            } else if (!hasGroupBy && skip(GROUP_BY)) {
                hasGroupBy = true;
                if (!skip(':')) {
                    return false;
                }
                byShard = skip(SHARD);
                if (!byShard && !skip(NULL)) {
                    return false;
                }
            } else {
                return false;
            }
        } while (skip(','));
        return count >= 0 && skip('}') && isAtEnd();
    }

    private boolean readRefs(int maxRefs) {
        if (!skip('[')) {
            return false;
        }
        count = 0;
        if (skip(']')) {
            return true;
        }
        do {
            if (count == maxRefs || !skip('"')) {
                return false;
            }
            if (bounds.length == 2 * count) {
                bounds = Arrays.copyOf(bounds, 4 * count);
            }
            bounds[2 * count] = index;
            // Bytes beyond ASCII are negative.
            while (index < body.length && body[index] >= ' ' && body[index] != '"' && body[index] != '\\') {
                index++;
            }
            if (index == body.length || body[index] != '"') {
                return false;
            }
            bounds[2 * count + 1] = index;
            index++;
            count++;
        } while (skip(','));
        return skip(']');
    }

    private boolean isAtEnd() {
        skipWhiteSpace();
        return index == body.length;
    }

    /** Skips white space and the token; returns false if another token follows. */
    private boolean skip(char token) {
        skipWhiteSpace();
        if (index < body.length && body[index] == token) {
            index++;
            return true;
        }
        return false;
    }

    /** Skips white space and the token; returns false if another token follows. */
    private boolean skip(byte[] token) {
        skipWhiteSpace();
        int end = index + token.length;
        if (end <= body.length && Arrays.equals(body, index, end, token, 0, token.length)) {
            index = end;
            return true;
        }
        return false;
    }

    private void skipWhiteSpace() {
        while (index < body.length
                && (body[index] == ' ' || body[index] == '\n' || body[index] == '\r' || body[index] == '\t')) {
            index++;
        }
    }

    /** Whether the body has {@code groupBy}. */
    public boolean hasGroupBy() {
        return hasGroupBy;
    }

    /** Whether the value of {@code groupBy} is {@code shard}. */
    public boolean byShard() {
        return byShard;
    }

    /**
     * Writes the results of all references.
     *
     * @return numbers of results, indexed by the ordinal of the verdict
     */
    public int[] write(ResultWriter writer) {
        int[] counts = new int[Verdict.values().length];
        writer.prefetch(body, bounds, count);
        writer.beginBatch();
        for (int i = 0; i < count; i++) {
            counts[writer.write(body, bounds[2 * i], bounds[2 * i + 1]).ordinal()]++;
        }
        writer.endBatch();
        return counts;
    }
}
