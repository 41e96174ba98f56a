package dev.puri.client.embedded;

import org.jspecify.annotations.Nullable;

/**
 * How far the table of an {@link EmbeddedResolver} is filled.
 *
 * @param isComplete whether look-ups are answered; stays true once a table was complete
 * @param reached offsets of its topic that the table has read, summed over partitions; null before the end offsets are known
 * @param end end offsets of the topic when the brokers were last asked, summed over partitions; null likewise
 * @param reason why answers may be missing or old, for people; null if the table is current
 * @param refusalsTrouble why refusals are not followed, for people; null if they are. If not, tokens of refused events are answered
 *     without the refusal's detail, or only at the end of the wait; look-ups without a token are not affected
 */
public record TableProgress(
        boolean isComplete,
        @Nullable Long reached,
        @Nullable Long end,
        @Nullable String reason,
        @Nullable String refusalsTrouble) {
    /** Whether the table is complete, fed and close to the end of its topic. */
    public boolean isReady() {
        return isComplete && reason == null;
    }

    /** For people, such as {@code 1200 of 40000 offsets read: the table is being filled}. */
    @Override
    public String toString() {
        String why = reason == null ? "the table is current" : reason;
        String all = refusalsTrouble == null ? why : why + "; refusals are not followed: " + refusalsTrouble;
        return reached == null || end == null ? all : reached + " of " + end + " offsets read: " + all;
    }
}
