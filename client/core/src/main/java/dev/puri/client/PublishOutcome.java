package dev.puri.client;

import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Reason;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a published event in the registry, as a resolver reports it. Whether brokers took the event is its {@link
 * Delivery}.
 *
 * <pre>{@code
 * PublishOutcome outcome = publisher.awaitSync(event.puri(), token, Duration.ofSeconds(10));
 * if (outcome instanceof PublishOutcome.Refused.PuriTaken taken) {
 *     return "already held by " + taken.holderOwner();
 * }
 * }</pre>
 */
public sealed interface PublishOutcome {
    /**
     * Returns the outcome that a verdict on a reference with a token means. Merged, deleted and unknown are verdicts of a table
     * that has the event.
     *
     * @throws IllegalArgumentException if the verdict is {@link Verdict.Malformed}, which says nothing about the event
     */
    static PublishOutcome of(Verdict verdict) {
        if (verdict instanceof Verdict.Malformed malformed) {
            throw new IllegalArgumentException(malformed.detail());
        }
        if (verdict instanceof Verdict.Refused refused) {
            return Refused.of(refused);
        }
        return verdict instanceof Verdict.NotCaughtUp ? new NotCaughtUp() : new Accepted();
    }

    /**
     * The registry accepted the event, and the resolver's table has it: look-ups there now answer with it, or with a later one.
     * An event that was published before and counts once is accepted too.
     */
    record Accepted() implements PublishOutcome {}

    /**
     * The resolver had not seen the event by the end of the wait, or had too many waits under way to ask. Ask again, with the
     * same token. An event that its collection's declaration does not allow is decided after 5 s only.
     */
    record NotCaughtUp() implements PublishOutcome {}

    /**
     * The registry refused the event. A refusal is final: the same event published again is refused again, unless what it
     * conflicts with has changed. There is a type for each reason on which a service may act, and {@link Other} for the rest.
     */
    sealed interface Refused extends PublishOutcome {
        /** The name of a {@link Reason}, or of a reason that only a later registry knows; for logs and metrics. */
        String reason();

        /** The circumstances, for people; null when the resolver does not know them any more. */
        @Nullable
        String detail();

        private static Refused of(Verdict.Refused verdict) {
            String detail = verdict.detail();
            return switch (verdict.reason()) {
                case "PURI_TAKEN" ->
                    new PuriTaken(detail, verdict.holderOwner(), verdict.holderShard(), verdict.survivor());
                case "HANDLE_TAKEN" -> new HandleTaken(detail);
                case "NOT_ALLOWED" -> new NotAllowed(detail);
                case "UNKNOWN_PURI" -> new UnknownPuri(detail);
                case "STALE_EPOCH" -> new StaleEpoch(detail);
                case "OTHER_INCARNATION" -> new OtherIncarnation(detail);
                case "DELETED" -> new Deleted(detail);
                case "MERGED" -> new Merged(detail, verdict.survivor());
                default -> new Other(verdict.reason(), detail);
            };
        }

        /**
         * Another identity holds the pURI.
         *
         * @param holderOwner the holder's owner; null when the resolver does not know it any more
         * @param holderShard the holder's shard; null likewise
         * @param survivor the identity that the holder was merged into; null when it is not merged
         */
        record PuriTaken(
                @Nullable String detail,
                @Nullable Owner holderOwner,
                @Nullable Shard holderShard,
                @Nullable Puri survivor)
                implements Refused {
            @Override
            public String reason() {
                return Reason.PURI_TAKEN.name();
            }
        }

        /** The handle was granted to another identity, now or ever. Create the identity with a new handle. */
        record HandleTaken(@Nullable String detail) implements Refused {
            @Override
            public String reason() {
                return Reason.HANDLE_TAKEN.name();
            }
        }

        /** The collection takes no identities of this owner, or is retired. */
        record NotAllowed(@Nullable String detail) implements Refused {
            @Override
            public String reason() {
                return Reason.NOT_ALLOWED.name();
            }
        }

        /** Nothing was created under this pURI, or it was erased. */
        record UnknownPuri(@Nullable String detail) implements Refused {
            @Override
            public String reason() {
                return Reason.UNKNOWN_PURI.name();
            }
        }

        /** The row has another epoch than {@link Events.Draft#ifEpoch} asks for: somebody else changed it first. */
        record StaleEpoch(@Nullable String detail) implements Refused {
            @Override
            public String reason() {
                return Reason.STALE_EPOCH.name();
            }
        }

        /** The row has another uuid than {@link Events.Draft#ifUuid} asks for: the name was deleted and created again. */
        record OtherIncarnation(@Nullable String detail) implements Refused {
            @Override
            public String reason() {
                return Reason.OTHER_INCARNATION.name();
            }
        }

        /** The identity is deleted. */
        record Deleted(@Nullable String detail) implements Refused {
            @Override
            public String reason() {
                return Reason.DELETED.name();
            }
        }

        /**
         * The identity was merged into another.
         *
         * @param survivor the other; null when the resolver does not know it any more
         */
        record Merged(@Nullable String detail, @Nullable Puri survivor) implements Refused {
            @Override
            public String reason() {
                return Reason.MERGED.name();
            }
        }

        /** The event breaks a rule of the contract, such as {@link Reason#TOO_LARGE}, or one of a later registry. */
        record Other(String reason, @Nullable String detail) implements Refused {}
    }
}
