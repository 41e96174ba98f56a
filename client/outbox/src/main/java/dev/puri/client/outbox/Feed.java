package dev.puri.client.outbox;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reports new rows of the outbox to a relay when their transactions commit, so that the relay need not poll. A feed may
 * report a row twice, or report a row that no longer exists. The relay polls while the feed starts and after the feed
 * has failed. Only one thread calls {@link #start}, {@link #state} and {@link #stop}.
 */
public interface Feed {
    /** A feed that reports nothing, so the relay polls. */
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
         * Publishes rows. Returns when the rows are published or moved to the table of blocked rows.
         *
         * @param seqs {@code seq} of each row, in the order of the commits
         * @throws SQLException if the database failed
         * @throws RelayException if the rows could not be published
         * @throws InterruptedException if the thread is interrupted
         */
        void accept(List<Long> seqs) throws SQLException, InterruptedException;
    }

    /** The state of a feed. */
    sealed interface State {
        /** The feed does not report every row yet. */
        record Starting() implements State {}

        /** The feed reports every row that existed when it started or was committed later. */
        record Running() implements State {}

        /** The feed ended because of an error. It may be started again after {@link #stop}. */
        record Failed(Throwable error) implements State {}
    }

    /**
     * Starts the feed. Does not block for long. Reports failures only by {@link #state}, and does not throw.
     *
     * @param leader the connection that holds the relay's lock, for use in this call only
     * @param sink receives the rows; the feed calls it on one thread
     */
    void start(Connection leader, Sink sink);

    /** The current state. */
    State state();

    /**
     * Stops the feed. After the return, the feed does not call the sink any more. Does nothing if the feed does not
     * run.
     */
    void stop();

    /** Returns the problem that a relay reports for a state; null if the feed has not failed. */
    static @Nullable String problem(State state) {
        return state instanceof State.Failed failed
                ? "the feed failed, so the table is polled: " + failed.error()
                : null;
    }
}
