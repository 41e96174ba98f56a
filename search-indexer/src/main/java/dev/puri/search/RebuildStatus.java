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
 * @param why the reason for the rebuild; null before the first one
 * @param begun null before the first one
 * @param ended null while it runs
 * @param records records that the index has taken
 * @param reached offsets that the index has reached, summed over all partitions
 * @param of end offsets, summed over all partitions
 */
record RebuildStatus(
        State state,
        @Nullable String why,
        @Nullable Instant begun,
        @Nullable Instant ended,
        long records,
        long reached,
        long of) {
    static final RebuildStatus NEVER = new RebuildStatus(State.IDLE, null, null, null, 0, 0, 0);

    enum State {
        /** There was no rebuild since the start. */
        IDLE,
        RUNNING,
        /** The rebuilt index serves. */
        DONE,
        /** It was cancelled. */
        ENDED;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    boolean isRunning() {
        return state == State.RUNNING;
    }

    RebuildStatus at(long taken, long reach, long end) {
        return new RebuildStatus(state, why, begun, ended, taken, reach, end);
    }

    RebuildStatus ended(State as, Instant at) {
        return new RebuildStatus(as, why, begun, at, records, reached, of);
    }

    void writeTo(JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeStringField("state", state.toString());
        if (begun != null) {
            json.writeStringField("why", String.valueOf(why));
            json.writeStringField("begun", Timestamp.text(begun));
            if (ended != null) {
                json.writeStringField("ended", Timestamp.text(ended));
                json.writeNumberField("seconds", Duration.between(begun, ended).toMillis() / 1000.0);
            }
            json.writeNumberField("records", records);
            json.writeNumberField("reached", reached);
            json.writeNumberField("of", of);
        }
        json.writeEndObject();
    }
}
