package dev.puri.cli.recovery;

import dev.puri.schemas.identity.Puri;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Collects distinct names. When it has the maximum number of names, it passes them on and starts again, so its memory
 * is bounded. A name that is added again afterwards is passed on again. Not thread-safe.
 */
public final class BoundedNames {
    private final int max;
    private final Consumer<Set<Puri>> receiver;
    private final Set<Puri> names = new HashSet<>();

    /**
     * @param receiver must not keep the set
     */
    public BoundedNames(int max, Consumer<Set<Puri>> receiver) {
        this.max = max;
        this.receiver = receiver;
    }

    public void add(Puri name) {
        names.add(name);
        if (names.size() == max) {
            receiver.accept(names);
            names.clear();
        }
    }

    /** Returns the names that were not passed on. */
    public Set<Puri> rest() {
        return names;
    }
}
