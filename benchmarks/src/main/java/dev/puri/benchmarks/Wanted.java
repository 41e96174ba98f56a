package dev.puri.benchmarks;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.util.function.LongSupplier;

/** What is looked up in one round, made beforehand. */
record Wanted(Puri[] puris, Handle[] handles) {
    static final Wanted NOTHING = new Wanted(new Puri[0], new Handle[0]);

    static Wanted of(int count, LongSupplier numbers) {
        Puri[] puris = new Puri[count];
        Handle[] handles = new Handle[count];
        for (int i = 0; i < count; i++) {
            long number = numbers.getAsLong();
            puris[i] = Population.puri(number);
            handles[i] = Population.handle(number);
        }
        return new Wanted(puris, handles);
    }

    int count() {
        return puris.length;
    }
}
