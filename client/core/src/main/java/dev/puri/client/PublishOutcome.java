package dev.puri.client;

import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Reason;
import org.jspecify.annotations.Nullable;

/**
 * The registry's decision on a published event, as a resolver reports it. {@link Delivery} says whether the brokers
 * accepted the event.
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
     * Converts the verdict on a reference with a token to the outcome of the token's event. The verdicts merged,
     * deleted and unknown mean that the registry accepted the event: the resolver returns them only after its table has
     * applied the event.
     *
     * @throws IllegalArgumentException if the verdict is {@link Verdict.Malformed}, which does not depend on the event
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
     * The registry accepted the event, and the resolver's table has applied it. Look-ups at that resolver now return
     * the state after this event or after a later one. An event that was published several times is accepted, and
     * counts once.
     */
    record Accepted() implements PublishOutcome {}

    /**
     * There is no decision yet. The resolver had not read the event by the end of the wait, or was not asked because
     * too many requests were waiting. Ask again with the same token. If the declaration of the collection does not
     * allow the event, the registry decides only after 5 s, because the declaration may change until then.
     */
    record NotCaughtUp() implements PublishOutcome {}

    /**
     * The registry refused the event. A refused event that is published again is refused again, unless the state that
     * it conflicts with has changed. There is a type for each reason that a service can act on, and {@link Other} for
     * all other reasons.
     */
    sealed interface Refused extends PublishOutcome {
        /**
         * The name of a {@link Reason}, or of a reason that only a newer version of the registry knows; for logs and
         * metrics.
         */
        String reason();

        /** Explanation for people; null if the resolver no longer has it. */
        @Nullable
        String detail();

        private static Refused of(Verdict.Refused verdict) {
            String detail = verdict.detail();
            return switch (verdict.reason()) {
                case "PURI_TAKEN" ->
                    new PuriTaken(detail, verdict.holderOwner(), verdict.holderShard(), verdict.survivor());
                case "HANDLE_TAKEN" -> new HandleTaken(detail);
                case "NOT_ALLOWED" -> new NotAllowed(detail);
                case "NOT_WRITABLE" -> new NotWritable(detail);
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
         * @param holderOwner owner of the identity that holds the pURI; null if the resolver no longer knows the owner
         * @param holderShard shard of that identity; null if the resolver no longer knows the shard
         * @param survivor the identity that the holder was merged into; null if the holder is not merged
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

        /** Another identity has or had the handle. Create the identity with a new handle. */
        record HandleTaken(@Nullable String detail) implements Refused {
            @Override
            public String reason() {
                return Reason.HANDLE_TAKEN.name();
            }
        }

        /** The collection does not allow identities of this owner, or is retired. */
        record NotAllowed(@Nullable String detail) implements Refused {
            @Override
            public String reason() {
                return Reason.NOT_ALLOWED.name();
            }
        }

        /**
         * The namespace or the collection is read-only, or is being imported by another source. Publish the event again
         * when it is writable. A second creation elsewhere would give the object two identities.
         */
        record NotWritable(@Nullable String detail) implements Refused {
            @Override
            public String reason() {
                return Reason.NOT_WRITABLE.name();
            }
        }

        /** No identity was created with this pURI, or the identity was erased. */
        record UnknownPuri(@Nullable String detail) implements Refused {
            @Override
            public String reason() {
                return Reason.UNKNOWN_PURI.name();
            }
        }

        /** The epoch of the row differs from {@link Events.Draft#ifEpoch}: another event changed the row first. */
        record StaleEpoch(@Nullable String detail) implements Refused {
            @Override
            public String reason() {
                return Reason.STALE_EPOCH.name();
            }
        }

        /** The uuid of the row differs from {@link Events.Draft#ifUuid}: the pURI was deleted and created again. */
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
         * The identity was merged into another identity, the survivor.
         *
         * @param survivor name of the survivor; null if the resolver no longer knows the survivor
         */
        record Merged(@Nullable String detail, @Nullable Puri survivor) implements Refused {
            @Override
            public String reason() {
                return Reason.MERGED.name();
            }
        }

        /**
         * Any other {@link Reason}, such as {@link Reason#TOO_LARGE}, or a reason that only a newer version of the
         * registry knows.
         */
        record Other(String reason, @Nullable String detail) implements Refused {}
    }
}
