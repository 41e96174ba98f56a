package dev.puri.client;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Reason;
import org.jspecify.annotations.Nullable;

/**
 * What has become of a published event, as a resolver reports it.
 *
 * <pre>{@code
 * Fate fate = publisher.awaitSync(event.puri(), token, Duration.ofSeconds(5));
 * if (fate instanceof Fate.Refused.PuriTaken taken) {
 *     return "already held by " + taken.holderOwner();
 * }
 * }</pre>
 */
public sealed interface Fate {
    /** The resolver's table has the event: look-ups there now answer with it, or with a later one. */
    record Settled() implements Fate {}

    /**
     * The resolver had not seen the event by the end of the wait, or as many waits were under way as may be; ask again, by the
     * same token.
     */
    record NotCaughtUp() implements Fate {}

    /**
     * The registry refused the event. A refusal is final: the same event published again is refused again, unless what it
     * conflicts with has changed. There is a type for each reason on which a service may act, and {@link Other} for the rest.
     */
    sealed interface Refused extends Fate {
        /** Name of a {@link Reason}, or of a reason that only a later registry knows; for logs and metrics. */
        String reason();

        /** What, where and why, for people; null when the resolver does not know it any more. */
        @Nullable
        String detail();

        /**
         * Another identity holds the pURI.
         *
         * @param holderOwner the holder's; null when the resolver does not know it any more
         * @param holderShard likewise
         * @param survivor what the holder was merged into; null when it is not merged
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
