package dev.puri.client.embedded;

import dev.puri.client.resolve.Placement;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.Verdict;
import dev.puri.resolver.table.LookUp;
import dev.puri.resolver.table.RecordView;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Refusal.Holder;
import dev.puri.tail.wait.EventStatus;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Turns the results of look-ups in the table into the client's verdicts. */
final class Verdicts {
    private Verdicts() {}

    /**
     * Looks a reference up.
     *
     * @param ref a reference that is not malformed
     */
    static Verdict of(Ref ref, LookUp lookUp) {
        Puri puri = ref.puri();
        dev.puri.resolver.table.Verdict found =
                puri != null ? lookUp.find(puri) : lookUp.find(Objects.requireNonNull(ref.handle()));
        return switch (found) {
            case FOUND -> found(ref, lookUp);
            case MERGED -> merged(ref, lookUp);
            case DELETED -> deleted(ref, lookUp);
            case UNKNOWN -> new Verdict.Unknown(ref);
            case MALFORMED, REFUSED, NOT_CAUGHT_UP ->
                throw new IllegalStateException("no verdict of a well-formed name: " + found + " of " + ref);
        };
    }

    private static Verdict found(Ref ref, LookUp found) {
        RecordView row = row(found);
        return new Verdict.Found(
                puri(ref, row), handle(ref, row), placement(row), row.epoch(), createdAt(row), changedAt(row));
    }

    private static Verdict merged(Ref ref, LookUp found) {
        RecordView row = row(found);
        RecordView survivor = found.placement();
        return new Verdict.Merged(
                puri(ref, row),
                handle(ref, row),
                canonical(found),
                survivor == null ? null : placement(survivor),
                row.epoch(),
                createdAt(row),
                changedAt(row),
                found.detail());
    }

    private static Verdict deleted(Ref ref, LookUp found) {
        RecordView row = row(found);
        return new Verdict.Deleted(
                puri(ref, row), handle(ref, row), canonical(found), row.epoch(), createdAt(row), changedAt(row));
    }

    private static RecordView row(LookUp found) {
        return Objects.requireNonNull(found.row());
    }

    private static Puri puri(Ref ref, RecordView row) {
        Puri asked = ref.puri();
        return asked == null ? row.puri() : asked;
    }

    private static @Nullable Handle handle(Ref ref, RecordView row) {
        Handle asked = ref.handle();
        return asked == null ? row.handle() : asked;
    }

    private static Placement placement(RecordView row) {
        return new Placement(row.ownerName(), row.shardName(), new UUID(row.uuidHigh(), row.uuidLow()));
    }

    private static Instant createdAt(RecordView row) {
        return Instant.ofEpochMilli(row.createdMillis());
    }

    private static Instant changedAt(RecordView row) {
        return Instant.ofEpochMilli(row.changedMillis());
    }

    private static @Nullable Puri canonical(LookUp found) {
        byte[] name = found.canonical();
        return name == null ? null : Puri.parse(new String(name, StandardCharsets.US_ASCII));
    }

    /**
     * The verdict on a reference after the wait for its event; null if the event was seen, so that the table must be asked.
     */
    static @Nullable Verdict of(Ref ref, EventStatus sight) {
        return switch (sight) {
            case EventStatus.Seen seen -> null;
            case EventStatus.Refused refused -> refused(ref, refused);
            case EventStatus.Foreign foreign -> new Verdict.Malformed(ref, foreign.detail());
            case EventStatus.NotCaughtUp late -> new Verdict.NotCaughtUp(ref);
        };
    }

    private static Verdict refused(Ref ref, EventStatus.Refused refused) {
        Refusal refusal = refused.refusal();
        String reason = refused.reason().name();
        if (refusal == null) {
            return new Verdict.Refused(ref, reason, null, null, null, null);
        }
        Holder holder = refusal.holder();
        return new Verdict.Refused(
                ref,
                reason,
                refusal.detail(),
                holder == null ? null : holder.owner(),
                holder == null ? null : holder.shard(),
                refusal.survivor());
    }
}
