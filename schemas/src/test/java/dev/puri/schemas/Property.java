package dev.puri.schemas;

import java.util.Random;
import java.util.function.Consumer;

/** A claim that holds for every value of a kind, tried on random ones. */
public final class Property {
    private Property() {}

    /** Fails with the seed to run the failing round again: {@code -Dpuri.seed=N} makes it the first. */
    public static void forAll(int rounds, Consumer<Random> claim) {
        long first = Long.getLong("puri.seed", System.nanoTime());
        for (int i = 0; i < rounds; i++) {
            long seed = first + i;
            try {
                // Spreads the seeds, because Random's first numbers of neighbouring seeds are similar.
                claim.accept(new Random(seed * 0x9E3779B97F4A7C15L));
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("again with -Dpuri.seed=" + seed + ": " + e.getMessage(), e);
            }
        }
    }
}
