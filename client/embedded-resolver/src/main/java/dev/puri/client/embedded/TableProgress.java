package dev.puri.client.embedded;

import org.jspecify.annotations.Nullable;

/**
 * How far the table of an {@link EmbeddedResolver} is filled.
 *
 * @param servesLookUps whether look-ups succeed. True also during a rebuild: look-ups then read the previous table
 * @param reached sum of the table's offsets over all partitions; null until the end offsets are known
 * @param end sum of the end offsets that the brokers reported last, over all partitions; null until they are known
 * @param reason text for people: why look-ups may fail or return old rows. Null if the table is current
 * @param refusalsTrouble text for people: why the resolver cannot follow {@code puri.rejections.v1}. Null if it can. If
 *     it cannot, a look-up with the token of a refused event gets no details of the refusal, or waits until its
 *     deadline. Look-ups without a token are not affected
 * @param declarationsTrouble text for people: why the resolver cannot follow {@code puri.collections.v1}. Null if it
 *     can. If it cannot, {@link dev.puri.client.resolve.Verdict.Unknown#importing} may be outdated, or false
 */
public record TableProgress(
        boolean servesLookUps,
        @Nullable Long reached,
        @Nullable Long end,
        @Nullable String reason,
        @Nullable String refusalsTrouble,
        @Nullable String declarationsTrouble) {
    /** Returns whether look-ups succeed and there is no reason why rows may be old. */
    public boolean isReady() {
        return servesLookUps && reason == null;
    }

    /** Returns a text for people, such as {@code 1200 of 40000 offsets read: the table is being filled}. */
    @Override
    public String toString() {
        String text = reason == null ? "the table is current" : reason;
        if (refusalsTrouble != null) {
            text += "; refusals are not followed: " + refusalsTrouble;
        }
        if (declarationsTrouble != null) {
            text += "; declarations are not followed: " + declarationsTrouble;
        }
        return reached == null || end == null ? text : reached + " of " + end + " offsets read: " + text;
    }
}
