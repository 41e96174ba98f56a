package dev.puri.projection;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The life cycle of a projection: local state that is built from topics, such as the identity table or the search
 * index.
 *
 * <pre>
 *   Empty         ── fill ──▶ CatchingUp
 *   Empty         ── open ──▶ Stale
 *   CatchingUp    ── complete ──▶ Current
 *   CatchingUp    ── detach ──▶ Empty
 *   Stale         ── attach ──▶ Current
 *   Current       ── detach ──▶ Stale
 *   any of these  ── withdraw ──▶ Empty (during a rebuild: the primary state)
 *   any of these  ── rebuild ──▶ Rebuilding
 *   Rebuilding    ── swap ──▶ Current, with the rebuilt projection
 *   Rebuilding    ── endRebuild ──▶ its primary state, that of the projection that the rebuild would replace
 * </pre>
 *
 * {@link Stale} and {@link Current} projections serve, also while a replacement is rebuilt. The transitions of the
 * serving projection are allowed during a rebuild and do not end it. A swap and a withdrawal return the projection that
 * served before; the caller drops it when nobody reads it any more.
 *
 * <p>One thread changes the state, and any thread reads it. The values of one {@link State} are consistent with each
 * other, which separate fields could not guarantee.
 *
 * @param <P> the projection
 * @param <F> the feeder, which applies the records of the topics to a projection
 */
public final class LifeCycle<P, F> {
    private static final Logger log = LoggerFactory.getLogger(LifeCycle.class);

    private final String name;
    private volatile State<P, F> state = new Empty<>();

    /** The state of a projection, and of its replacement if there is one. */
    public sealed interface State<P, F> {
        /** The complete projection that serves; null if none does. */
        default @Nullable P serving() {
            return null;
        }

        /** The feeder that updates the serving projection or fills the first one; null if there is none. */
        default @Nullable F feeder() {
            return null;
        }

        /** The feeder that fills a replacement of the serving projection; null if there is none. */
        default @Nullable F rebuildFeeder() {
            return null;
        }
    }

    /** The state without a rebuild. */
    public sealed interface WithoutRebuild<P, F> extends State<P, F> {}

    /** There is no projection that could serve: none was stored, or it cannot be used. */
    public record Empty<P, F>() implements WithoutRebuild<P, F> {}

    /** A feeder fills the first projection, which does not serve yet. */
    public record CatchingUp<P, F>(F feeder) implements WithoutRebuild<P, F> {}

    /** The projection serves, but nothing updates it. */
    public record Stale<P, F>(P serving) implements WithoutRebuild<P, F> {}

    /** The projection serves, and a feeder keeps it current. */
    public record Current<P, F>(P serving, F feeder) implements WithoutRebuild<P, F> {}

    /**
     * A feeder fills a new projection.
     *
     * @param primary the state of the projection that the new one will replace
     */
    public record Rebuilding<P, F>(WithoutRebuild<P, F> primary, F rebuildFeeder) implements State<P, F> {
        @Override
        public @Nullable P serving() {
            return primary.serving();
        }

        @Override
        public @Nullable F feeder() {
            return primary.feeder();
        }
    }

    /**
     * @param name the name of the projection in log lines
     */
    public LifeCycle(String name) {
        this.name = name;
    }

    /** Returns the state. Thread-safe. */
    public State<P, F> state() {
        return state;
    }

    /** Returns the complete projection that serves; null if none does. Thread-safe. */
    public @Nullable P serving() {
        return state.serving();
    }

    /**
     * Returns the feeder that updates the serving projection or fills the first one; null if there is none.
     * Thread-safe.
     */
    public @Nullable F feeder() {
        return state.feeder();
    }

    /** Lets a stored projection serve, before a feeder updates it. */
    public void open(P stored) {
        require("open", primaryState() instanceof Empty);
        change("open", new Stale<>(stored));
    }

    /** Lets a feeder update the stored projection that serves. */
    public void attach(F feeder) {
        if (!(primaryState() instanceof Stale<P, F> stale)) {
            throw illegal("attach");
        }
        change("attach", new Current<>(stale.serving(), feeder));
    }

    /** Lets a feeder fill the first projection. */
    public void fill(F feeder) {
        require("fill", primaryState() instanceof Empty);
        change("fill", new CatchingUp<>(feeder));
    }

    /** Lets the first projection serve, because its feeder has filled it. */
    public void complete(P filled) {
        if (!(primaryState() instanceof CatchingUp<P, F> catchingUp)) {
            throw illegal("complete");
        }
        change("complete", new Current<>(filled, catchingUp.feeder()));
    }

    /**
     * Removes the feeder. A serving projection then serves without updates; a projection that was being filled is given
     * up.
     */
    public void detach() {
        P serving = state.serving();
        change("detach", serving == null ? new Empty<>() : new Stale<>(serving));
    }

    /**
     * Stops serving and updating the projection. A rebuild continues.
     *
     * @return the projection that served; null if none did
     */
    public @Nullable P withdraw() {
        P previous = state.serving();
        change("withdraw", new Empty<>());
        return previous;
    }

    /** Lets a feeder fill a replacement of the serving projection. */
    public void rebuild(F feeder) {
        if (!(state instanceof WithoutRebuild<P, F> primary)) {
            throw illegal("rebuild");
        }
        enter("rebuild", new Rebuilding<>(primary, feeder));
    }

    /**
     * Lets the rebuilt projection serve. Its feeder updates it from now on.
     *
     * @return the projection that served before; null if none did
     */
    public @Nullable P swap(P rebuilt) {
        if (!(state instanceof Rebuilding<P, F> rebuilding)) {
            throw illegal("swap");
        }
        enter("swap", new Current<>(rebuilt, rebuilding.rebuildFeeder()));
        return rebuilding.serving();
    }

    /** Ends the rebuild, if one runs, without a replacement. */
    public void endRebuild() {
        if (state instanceof Rebuilding<P, F> rebuilding) {
            enter("endRebuild", rebuilding.primary());
        }
    }

    private WithoutRebuild<P, F> primaryState() {
        return switch (state) {
            case WithoutRebuild<P, F> current -> current;
            case Rebuilding<P, F> rebuilding -> rebuilding.primary();
        };
    }

    /** Changes the state of the serving projection; a rebuild goes on. */
    private void change(String transition, WithoutRebuild<P, F> next) {
        enter(
                transition,
                state instanceof Rebuilding<P, F> rebuilding
                        ? new Rebuilding<>(next, rebuilding.rebuildFeeder())
                        : next);
    }

    private void enter(String transition, State<P, F> next) {
        log.debug("{}: {}: {} to {}", name, transition, describe(state), describe(next));
        state = next;
    }

    private void require(String transition, boolean isAllowed) {
        if (!isAllowed) {
            throw illegal(transition);
        }
    }

    private IllegalStateException illegal(String transition) {
        return new IllegalStateException(name + ": " + transition + " is not allowed in the state " + describe(state));
    }

    private static String describe(State<?, ?> state) {
        String description = state.getClass().getSimpleName();
        return state instanceof Rebuilding<?, ?> rebuilding
                ? description + ", primary " + describe(rebuilding.primary())
                : description;
    }
}
