package dev.puri.client.outbox;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reports new rows to a relay as their transactions commit, so that it need not poll. It may report a row twice, or one
 * that is gone. While it starts and after it failed the relay polls. One thread calls {@link #start}, {@link #state}
 * and {@link #stop}.
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

    /** Takes rows. */
    @FunctionalInterface
    interface Sink {
        /**
         * Returns when these rows are published, or kept among the blocked ones.
         *
         * @param seqs the rows' {@code seq} in the order of commit
         * @throws SQLException when the database failed
         * @throws RelayException when the rows could not be published
         * @throws InterruptedException when the thread is interrupted
         */
        void accept(List<Long> seqs) throws SQLException, InterruptedException;
    }

    /** How far a feed is. */
    sealed interface State {
        /** It does not report every row yet. */
        record Starting() implements State {}

        /** It reports every row that was there when it started or was committed since. */
        record Running() implements State {}

        /** It ended, and may be started again after {@link #stop}. */
        record Failed(Throwable error) implements State {}
    }

    /**
     * Starts. Returns soon, and fails by its {@link #state} alone.
     *
     * @param leader the connection that holds the relay's lock, for use in this call only
     * @param sink to be called by one thread
     */
    void start(Connection leader, Sink sink);

    /** How far it is. */
    State state();

    /** Stops, and returns when the sink is called no more. Does nothing when it does not run. */
    void stop();

    /** What a relay says of a state; null when all is well. */
    static @Nullable String problem(State state) {
        return state instanceof State.Failed failed
                ? "the feed failed, so the table is polled: " + failed.error()
                : null;
    }
}
