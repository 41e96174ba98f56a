package dev.puri.benchmarks.data;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.util.Random;
import java.util.function.LongSupplier;

/** Names and handles to look up, made beforehand. */
public record LookUpKeys(Puri[] puris, Handle[] handles) {
    /** No names. */
    public static final LookUpKeys NONE = new LookUpKeys(new Puri[0], new Handle[0]);

    private static final double SKEW = 0.99;

    /** Makes keys of numbers of the population. */
    public static LookUpKeys of(int count, LongSupplier numbers) {
        Puri[] puris = new Puri[count];
        Handle[] handles = new Handle[count];
        for (int i = 0; i < count; i++) {
            long number = numbers.getAsLong();
            puris[i] = Population.puri(number);
            handles[i] = Population.handle(number);
        }
        return new LookUpKeys(puris, handles);
    }

    /** Draws rows, each as likely as another. */
    public static LookUpKeys even(int count, int rows, Random random) {
        return of(count, () -> random.nextInt(rows));
    }

    /** Draws rows, few of them often (Zipf's law). */
    public static LookUpKeys skewed(int count, int rows, Random random) {
        Zipf zipf = new Zipf(rows, SKEW);
        return of(count, () -> zipf.next(random));
    }

    /** Draws keys that no row has. */
    public static LookUpKeys missing(int count, int rows, Random random) {
        return of(count, () -> Population.missing(random.nextInt(rows)));
    }

    /** Returns how many there are. */
    public int count() {
        return puris.length;
    }
}
