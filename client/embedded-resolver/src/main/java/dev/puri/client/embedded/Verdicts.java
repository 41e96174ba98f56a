package dev.puri.client.embedded;

import dev.puri.client.resolve.Placement;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.Verdict;
import dev.puri.projection.wait.EventStatus;
import dev.puri.resolver.table.LookUp;
import dev.puri.resolver.table.RecordView;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Refusal.Holder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Looks up references in the table, and converts the results to the client's {@link Verdict}s. */
final class Verdicts {
    private Verdicts() {}

    /**
     * Looks up a reference.
     *
     * @param ref a reference that is not malformed
     * @param declarations say which collections are being imported
     */
    static Verdict of(Ref ref, LookUp lookUp, Declarations declarations) {
        Puri puri = ref.puri();
        dev.puri.resolver.table.Verdict result =
                puri != null ? lookUp.find(puri) : lookUp.find(Objects.requireNonNull(ref.handle()));
        return switch (result) {
            case FOUND -> found(ref, lookUp);
            case MERGED -> merged(ref, lookUp);
            case DELETED -> deleted(ref, lookUp);
            case UNKNOWN -> new Verdict.Unknown(ref, declarations.isImporting(ref.text()));
            case MALFORMED, REFUSED, NOT_CAUGHT_UP ->
                throw new IllegalStateException("unexpected result of a look-up: " + result + " for " + ref);
        };
    }

    private static Verdict found(Ref ref, LookUp lookUp) {
        RecordView row = row(lookUp);
        return new Verdict.Found(
                puri(ref, row), handle(ref, row), placement(row), row.epoch(), createdAt(row), changedAt(row));
    }

    private static Verdict merged(Ref ref, LookUp lookUp) {
        RecordView row = row(lookUp);
        RecordView survivor = lookUp.placement();
        return new Verdict.Merged(
                puri(ref, row),
                handle(ref, row),
                canonical(lookUp),
                survivor == null ? null : placement(survivor),
                row.epoch(),
                createdAt(row),
                changedAt(row),
                lookUp.detail());
    }

    private static Verdict deleted(Ref ref, LookUp lookUp) {
        RecordView row = row(lookUp);
        return new Verdict.Deleted(
                puri(ref, row), handle(ref, row), canonical(lookUp), row.epoch(), createdAt(row), changedAt(row));
    }

    private static RecordView row(LookUp lookUp) {
        return Objects.requireNonNull(lookUp.row());
    }

    private static Puri puri(Ref ref, RecordView row) {
        Puri known = ref.puri();
        return known == null ? row.puri() : known;
    }

    private static @Nullable Handle handle(Ref ref, RecordView row) {
        Handle known = ref.handle();
        return known == null ? row.handle() : known;
    }

    private static Placement placement(RecordView row) {
        return new Placement(row.owner(), row.shard(), new UUID(row.uuidHigh(), row.uuidLow()));
    }

    private static Instant createdAt(RecordView row) {
        return Instant.ofEpochMilli(row.createdMillis());
    }

    private static Instant changedAt(RecordView row) {
        return Instant.ofEpochMilli(row.changedMillis());
    }

    private static @Nullable Puri canonical(LookUp lookUp) {
        byte[] name = lookUp.canonical();
        return name == null ? null : Puri.parse(new String(name, StandardCharsets.US_ASCII));
    }

    /**
     * Returns the verdict for a reference after the wait for its event. Returns null if the table has the event, so
     * that the caller must look up the reference.
     */
    static @Nullable Verdict withoutLookUp(Ref ref, EventStatus status) {
        return switch (status) {
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
