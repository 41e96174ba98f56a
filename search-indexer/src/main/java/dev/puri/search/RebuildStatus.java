package dev.puri.search;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.http.Timestamp;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The progress of the running rebuild of the index, or the result of the last one.
 *
 * @param reason the reason for the rebuild; null before the first one
 * @param startedAt null before the first one
 * @param endedAt null while it runs
 * @param appliedChanges number of changes that the new index has applied
 * @param reachedOffsets offsets that the new index has reached, summed over all partitions
 * @param endOffsets end offsets, summed over all partitions
 * @param detail why the running rebuild waits, as text for people; null if it does not wait
 */
record RebuildStatus(
        State state,
        @Nullable String reason,
        @Nullable Instant startedAt,
        @Nullable Instant endedAt,
        long appliedChanges,
        long reachedOffsets,
        long endOffsets,
        @Nullable String detail) {
    static final RebuildStatus NEVER = new RebuildStatus(State.IDLE, null, null, null, 0, 0, 0, null);

    enum State {
        /** No rebuild since the start of the process. */
        IDLE,
        RUNNING,
        /** The rebuilt index serves. */
        DONE,
        /** The rebuild was cancelled. */
        ENDED;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    boolean isRunning() {
        return state == State.RUNNING;
    }

    /** Returns this status with another progress. */
    RebuildStatus withProgress(long newAppliedChanges, long newReachedOffsets, long newEndOffsets) {
        return new RebuildStatus(
                state, reason, startedAt, endedAt, newAppliedChanges, newReachedOffsets, newEndOffsets, detail);
    }

    /** Returns this status with another {@link #detail}. */
    RebuildStatus withDetail(@Nullable String newDetail) {
        return new RebuildStatus(
                state, reason, startedAt, endedAt, appliedChanges, reachedOffsets, endOffsets, newDetail);
    }

    /** Returns this status after the end of the rebuild. */
    RebuildStatus withEnd(State result, Instant time) {
        return new RebuildStatus(result, reason, startedAt, time, appliedChanges, reachedOffsets, endOffsets, null);
    }

    void writeTo(JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeStringField("state", state.toString());
        if (startedAt != null) {
            json.writeStringField("why", String.valueOf(reason));
            json.writeStringField("begun", Timestamp.text(startedAt));
            if (endedAt != null) {
                json.writeStringField("ended", Timestamp.text(endedAt));
                json.writeNumberField(
                        "seconds", Duration.between(startedAt, endedAt).toMillis() / 1000.0);
            }
            json.writeNumberField("records", appliedChanges);
            json.writeNumberField("reached", reachedOffsets);
            json.writeNumberField("of", endOffsets);
            if (detail != null) {
                json.writeStringField("detail", detail);
            }
        }
        json.writeEndObject();
    }
}
