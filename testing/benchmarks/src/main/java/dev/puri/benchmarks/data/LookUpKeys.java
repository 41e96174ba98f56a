package dev.puri.benchmarks.data;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.util.Random;
import java.util.function.LongSupplier;

/** pURIs and handles to look up, created before the look-ups are timed. */
public record LookUpKeys(Puri[] puris, Handle[] handles) {
    /** No keys. */
    public static final LookUpKeys NONE = new LookUpKeys(new Puri[0], new Handle[0]);

    private static final double SKEW = 0.99;

    /** Returns the keys of rows with these numbers. */
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

    /** Draws keys of rows; every row has the same probability. */
    public static LookUpKeys even(int count, int rows, Random random) {
        return of(count, () -> random.nextInt(rows));
    }

    /** Draws keys of rows; few rows are drawn often (Zipf's law). */
    public static LookUpKeys skewed(int count, int rows, Random random) {
        Zipf zipf = new Zipf(rows, SKEW);
        return of(count, () -> zipf.next(random));
    }

    /** Draws keys that no row has. */
    public static LookUpKeys missing(int count, int rows, Random random) {
        return of(count, () -> Population.missing(random.nextInt(rows)));
    }

    /** Returns the number of pURIs, which is also the number of handles. */
    public int count() {
        return puris.length;
    }
}
