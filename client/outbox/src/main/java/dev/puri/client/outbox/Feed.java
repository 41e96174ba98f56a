package dev.puri.client.outbox;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reports new rows to a relay as their transactions commit, so that the relay need not poll. A feed may report a row twice, or one that
 * is gone. The relay polls while the feed starts and after it failed. One thread calls {@link #start}, {@link #state} and {@link
 * #stop}.
 */
public interface Feed {
    /** No feed: the relay polls. */
    Feed NONE = new Feed() {
        @Override
        public void start(Connection leader, Sink sink) {}

        @Override
        public State state() {
            return new State.Starting();
        }

        @Override
        public void stop() {}
    };

    /** Receives rows from a feed. */
    @FunctionalInterface
    interface Sink {
        /**
         * Publishes rows. Returns when they are published or moved to the blocked rows.
         *
         * @param seqs the rows' {@code seq} in the order of commit
         * @throws SQLException when the database failed
         * @throws RelayException when the rows could not be published
         * @throws InterruptedException when the thread is interrupted
         */
        void accept(List<Long> seqs) throws SQLException, InterruptedException;
    }

    /** The state of a feed. */
    sealed interface State {
        /** It does not report every row yet. */
        record Starting() implements State {}

        /** It reports every row that existed when it started or was committed since. */
        record Running() implements State {}

        /** It ended, and may be started again after {@link #stop}. */
        record Failed(Throwable error) implements State {}
    }

    /**
     * Starts the feed. Does not block for long, and reports failures by its {@link #state} alone.
     *
     * @param leader the connection that holds the relay's lock, for use in this call only
     * @param sink receives the rows; the feed calls it on one thread
     */
    void start(Connection leader, Sink sink);

    /** The current state. */
    State state();

    /** Stops the feed, and returns when it calls the sink no more. Does nothing if it does not run. */
    void stop();

    /** The problem that a relay reports for a state; null for none. */
    static @Nullable String problem(State state) {
        return state instanceof State.Failed failed
                ? "the feed failed, so the table is polled: " + failed.error()
                : null;
    }
}
