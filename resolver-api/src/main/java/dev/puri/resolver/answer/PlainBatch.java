package dev.puri.resolver.answer;

import static dev.puri.resolver.answer.JsonOut.ascii;

import dev.puri.resolver.table.Verdict;
import java.util.Arrays;

/**
 * Parses the usual body of a batch without copying: references in ASCII without escapes, and perhaps {@code groupBy}.
 * It rejects any other body, also a wrong one. The caller then uses a complete JSON parser, which also explains
 * mistakes.
 *
 * <p>Used by one thread, for one body after the other.
 */
public final class PlainBatch {
    private static final byte[] REFS = ascii("\"refs\"");
    private static final byte[] GROUP_BY = ascii("\"groupBy\"");
    private static final byte[] SHARD = ascii("\"shard\"");
    private static final byte[] NULL = ascii("null");

    private byte[] body = {};
    private int at;

    /** By reference, the offsets of its begin and end. */
    private int[] bounds = new int[256];

    private int count;
    private boolean isGrouped;
    private boolean byShard;

    /**
     * Parses a body. The caller must not change it while it uses this object.
     *
     * @return false if the body has another form or more references
     */
    public boolean read(byte[] json, int maxRefs) {
        body = json;
        at = 0;
        count = -1;
        byShard = false;
        isGrouped = false;
        if (!takes('{')) {
            return false;
        }
        do {
            if (count < 0 && takes(REFS)) {
                if (!takes(':') || !readRefs(maxRefs)) {
                    return false;
                }
            } else if (!isGrouped && takes(GROUP_BY)) {
                isGrouped = true;
                if (!takes(':')) {
                    return false;
                }
                byShard = takes(SHARD);
                if (!byShard && !takes(NULL)) {
                    return false;
                }
            } else {
                return false;
            }
        } while (takes(','));
        return count >= 0 && takes('}') && isAtEnd();
    }

    private boolean readRefs(int maxRefs) {
        if (!takes('[')) {
            return false;
        }
        count = 0;
        if (takes(']')) {
            return true;
        }
        do {
            if (count == maxRefs || !takes('"')) {
                return false;
            }
            if (bounds.length == 2 * count) {
                bounds = Arrays.copyOf(bounds, 4 * count);
            }
            bounds[2 * count] = at;
            // Bytes beyond ASCII are negative.
            while (at < body.length && body[at] >= ' ' && body[at] != '"' && body[at] != '\\') {
                at++;
            }
            if (at == body.length || body[at] != '"') {
                return false;
            }
            bounds[2 * count + 1] = at;
            at++;
            count++;
        } while (takes(','));
        return takes(']');
    }

    private boolean isAtEnd() {
        skipSpace();
        return at == body.length;
    }

    private boolean takes(char token) {
        skipSpace();
        if (at < body.length && body[at] == token) {
            at++;
            return true;
        }
        return false;
    }

    private boolean takes(byte[] token) {
        skipSpace();
        int end = at + token.length;
        if (end <= body.length && Arrays.equals(body, at, end, token, 0, token.length)) {
            at = end;
            return true;
        }
        return false;
    }

    private void skipSpace() {
        while (at < body.length && (body[at] == ' ' || body[at] == '\n' || body[at] == '\r' || body[at] == '\t')) {
            at++;
        }
    }

    /** Whether the body has {@code groupBy}. */
    public boolean isGrouped() {
        return isGrouped;
    }

    /** Whether results are grouped by shard. */
    public boolean byShard() {
        return byShard;
    }

    /**
     * Writes the results of all references.
     *
     * @return the number of results by the verdict's ordinal
     */
    public int[] write(ResultWriter answer) {
        int[] verdicts = new int[Verdict.values().length];
        answer.touch(body, bounds, count);
        answer.beginBatch();
        for (int i = 0; i < count; i++) {
            verdicts[answer.write(body, bounds[2 * i], bounds[2 * i + 1]).ordinal()]++;
        }
        answer.endBatch();
        return verdicts;
    }
}
