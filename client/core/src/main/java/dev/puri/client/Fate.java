package dev.puri.client;

import org.jspecify.annotations.Nullable;

/** What has become of a published event, as a resolver tells. */
public sealed interface Fate {
    /** The table has seen it: whoever asks that resolver now is answered with it, or with what came later. */
    record Settled() implements Fate {}

    /**
     * It was refused.
     *
     * @param reason such as {@code PURI_TAKEN}
     * @param detail what, where and why, for a person; null when the resolver does not know
     * @param holderOwner who holds what it asked for; null where nobody does, or that is not known
     * @param holderShard where; null likewise
     */
    record Refused(
            String reason,
            @Nullable String detail,
            @Nullable String holderOwner,
            @Nullable String holderShard) implements Fate {}

    /** The resolver had not seen it by the end of the wait; it may be asked again. */
    record NotCaughtUp() implements Fate {}
}
