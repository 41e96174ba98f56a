package dev.puri.projection;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The life cycle of a projection: local state that is built from topics, such as the identity table or the search
 * index. A projection serves reads once it is complete. It may keep serving while nothing updates it, or while its
 * replacement is filled.
 *
 * <pre>
 *   Detached ─── open ───▶ Detached ──── attach ────▶ Current
 *   (nothing)              (stale projection)            ▲
 *       │                      │                         │
 *       └──────── fill ────────┴──▶ Filling ─ complete ──┘
 *
 *   replace: any state ──▶ Current, with a rebuilt projection
 *   detach: any state ──▶ Detached, the projection still serves
 *   withdraw: any state ──▶ Detached, nothing serves
 * </pre>
 *
 * One thread changes the state, and any thread reads it. All reads of one {@link State} fit together, which separate
 * fields could not guarantee.
 *
 * @param <P> the projection
 * @param <F> what updates a projection from its topics
 */
public final class LifeCycle<P, F> {
    private static final Logger log = LoggerFactory.getLogger(LifeCycle.class);

    private final String name;
    private volatile State<P, F> state = new Detached<>(null);

    /** The state of a projection. */
    public sealed interface State<P, F> {
        /** The complete projection that serves; null if none does. */
        @Nullable
        P serving();

        /** Updates the serving projection or fills its replacement; null if nothing does. */
        @Nullable
        F feeder();
    }

    /** Nothing updates the projection: its owner waits for the brokers, or for the next attempt. */
    public record Detached<P, F>(@Nullable P serving) implements State<P, F> {
        @Override
        public @Nullable F feeder() {
            return null;
        }
    }

    /** A feeder fills a new projection. */
    public record Filling<P, F>(@Nullable P serving, F feeder) implements State<P, F> {}

    /** A feeder keeps the serving projection current. */
    public record Current<P, F>(P serving, F feeder) implements State<P, F> {}

    /**
     * @param name of the projection, for the log
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

    /** Returns the feeder of the serving projection or of its replacement; null if there is none. Thread-safe. */
    public @Nullable F feeder() {
        return state.feeder();
    }

    /** Lets a stored projection serve, before a feeder updates it. */
    public void open(P stored) {
        if (!(state instanceof Detached) || state.serving() != null) {
            throw illegal("open");
        }
        change("open", new Detached<>(stored));
    }

    /** Lets a feeder update the stored projection that serves. */
    public void attach(F feeder) {
        P serving = state.serving();
        if (!(state instanceof Detached) || serving == null) {
            throw illegal("attach");
        }
        change("attach", new Current<>(serving, feeder));
    }

    /** Lets a feeder fill a new projection. The previous one serves meanwhile, if there is one. */
    public void fill(F feeder) {
        if (!(state instanceof Detached)) {
            throw illegal("fill");
        }
        change("fill", new Filling<>(state.serving(), feeder));
    }

    /**
     * Lets the projection serve that the feeder has filled.
     *
     * @return the projection that served before; null if none did
     */
    public @Nullable P complete(P filled) {
        if (!(state instanceof Filling<P, F> filling)) {
            throw illegal("complete");
        }
        change("complete", new Current<>(filled, filling.feeder()));
        return filling.serving();
    }

    /**
     * Lets a projection serve that was rebuilt beside the serving one.
     *
     * @param rebuilt the projection
     * @param feeder has filled the projection and updates it from now on
     * @return the projection that served before; null if none did
     */
    public @Nullable P replace(P rebuilt, F feeder) {
        P previous = state.serving();
        change("replace", new Current<>(rebuilt, feeder));
        return previous;
    }

    /** Ends the updates. The serving projection still serves. */
    public void detach() {
        change("detach", new Detached<>(state.serving()));
    }

    /**
     * Ends the updates and the service.
     *
     * @return the projection that served; null if none did
     */
    public @Nullable P withdraw() {
        P previous = state.serving();
        change("withdraw", new Detached<>(null));
        return previous;
    }

    private void change(String transition, State<P, F> next) {
        log.debug("{}: {}: {} to {}", name, transition, describe(state), describe(next));
        state = next;
    }

    private IllegalStateException illegal(String transition) {
        return new IllegalStateException(name + ": " + transition + " is not allowed in the state " + describe(state));
    }

    private static String describe(State<?, ?> state) {
        return state.getClass().getSimpleName() + (state.serving() == null ? " without a serving one" : "");
    }
}
