package dev.puri.search;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.http.Timestamp;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How far the building of another index is, or what became of the last.
 *
 * @param why who or what wants it; null when none was built yet
 * @param begun when; null when none was
 * @param ended when it was over; null while it is not
 * @param records records that it has taken
 * @param reached offsets of the topics that it has reached
 * @param of offsets that there are
 */
record Reindexing(
        State state,
        @Nullable String why,
        @Nullable Instant begun,
        @Nullable Instant ended,
        long records,
        long reached,
        long of) {
    static final Reindexing NEVER = new Reindexing(State.IDLE, null, null, null, 0, 0, 0);

    enum State {
        /** None was built in this life. */
        IDLE,
        RUNNING,
        /** It answers. */
        DONE,
        /** It was given up when somebody asked for that. */
        ENDED;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    boolean isRunning() {
        return state == State.RUNNING;
    }

    Reindexing at(long taken, long reach, long end) {
        return new Reindexing(state, why, begun, ended, taken, reach, end);
    }

    Reindexing over(State as, Instant at) {
        return new Reindexing(as, why, begun, at, records, reached, of);
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
