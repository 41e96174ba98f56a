package dev.puri.resolver.answer;

import static dev.puri.resolver.answer.JsonOut.ascii;

import dev.puri.resolver.table.Verdict;
import java.util.Arrays;

/**
 * The body of a batch as nearly all are: references of ASCII without escapes, and perhaps {@code groupBy}.
 * They are found where they stand and stay there. Of any other body, wrong ones among them, it says so, and
 * a parser that knows all of JSON is asked, which also has the words for what is wrong.
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

    /** Of each reference where it begins and where it ends. */
    private int[] bounds = new int[256];

    private int count;
    private boolean isGrouped;
    private boolean byShard;

    /**
     * Reads a body, which must not change as long as this is used.
     *
     * @return false when it is another than such a one, or has more references
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
            // Beyond ASCII bytes are negative.
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

    /** Whether it says anything of grouping. */
    public boolean isGrouped() {
        return isGrouped;
    }

    /** Whether the answer is to be grouped by shard. */
    public boolean byShard() {
        return byShard;
    }

    /**
     * Writes the results of all.
     *
     * @return how many there are of each verdict, by its ordinal
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
