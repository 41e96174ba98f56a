package dev.puri.search;

import dev.puri.projection.wait.EventOutcome;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.Waiters;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Row;
import dev.puri.search.ChangeDecoder.DecodedRecord;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * The newest rows that the index has applied and readers do not see yet. When readers see them, their outcomes are
 * recorded and the requests that wait for them wake up. For the feeder's thread, except {@link #recentRows}.
 */
final class PendingWakeUps {
    private final RecentRows recentRows = new RecentRows();
    private final OutcomeCache outcomes;
    private final Waiters waiters;
    private final Deque<DecodedRecord> rows = new ArrayDeque<>();

    PendingWakeUps(OutcomeCache outcomes, Waiters waiters) {
        this.outcomes = outcomes;
        this.waiters = waiters;
    }

    /** Returns the most recent rows that readers see. Thread-safe. */
    RecentRows recentRows() {
        return recentRows;
    }

    /**
     * Must be called before the index applies records, because an engine may show them before the refresh.
     *
     * @param isFirstFill whether nobody reads the index yet, so that the names need not be kept
     */
    void beforeApply(List<DecodedRecord> records, boolean isFirstFill) {
        if (isFirstFill) {
            recentRows.aboutToApplyAny();
            return;
        }
        for (DecodedRecord record : records) {
            if (record.change().kind() == EntryKind.IDENTITY) {
                recentRows.aboutToApply(record.change().puri());
            }
        }
    }

    /** Adds the rows among records that the index has applied. */
    void add(List<DecodedRecord> records) {
        for (DecodedRecord record : records) {
            if (record.change().kind() == EntryKind.IDENTITY) {
                rows.add(record);
                if (rows.size() > RecentRows.CAPACITY) {
                    rows.removeFirst();
                }
            }
        }
    }

    /** Must be called when readers see the rows. */
    void wake() {
        List<DecodedRecord> visible = List.copyOf(rows);
        rows.clear();
        visible.forEach(this::recordOutcome);
        if (waiters.hasWaiters()) {
            visible.forEach(row -> waiters.wake(row.change().puri()));
        }
    }

    /** Must be called when the visible offsets have advanced. */
    void wakeWaitersForAnyName() {
        if (waiters.hasWaiters()) {
            waiters.wakeWaitersForAnyName();
        }
    }

    private void recordOutcome(DecodedRecord record) {
        IndexChange change = record.change();
        EventOutcome eventOutcome = record.eventOutcome();
        if (change.entry() instanceof Row row) {
            recentRows.putRow(change.puri(), row.position(), row.handle());
        } else {
            recentRows.removeRow(change.puri());
            if (eventOutcome != null && eventOutcome.outcome().kind() == Outcome.Kind.APPLIED) {
                outcomes.addErased(change.puri(), eventOutcome.position(), record.writtenAt());
            } else if (eventOutcome != null) {
                outcomes.addWithoutRow(change.puri(), eventOutcome.position());
            }
        }
        if (eventOutcome != null) {
            outcomes.addDecided(change.puri(), eventOutcome.position());
            if (eventOutcome.outcome().reason() != null) {
                outcomes.addRefused(
                        change.puri(),
                        eventOutcome.position(),
                        eventOutcome.outcome().reason());
            }
        }
    }
}
