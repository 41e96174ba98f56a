package dev.puri.resolver;

import dev.puri.resolver.table.Verdict;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/** Counts the verdicts of one route of one listener. */
final class Verdicts {
    private final Map<Verdict, Counter> counters = new EnumMap<>(Verdict.class);

    Verdicts(String listener, String route, MeterRegistry meters) {
        for (Verdict verdict : Verdict.values()) {
            counters.put(
                    verdict,
                    Counter.builder("puri.resolver.verdicts")
                            .description("References answered, by verdict")
                            .tag("listener", listener)
                            .tag("route", route)
                            .tag("verdict", verdict.toString())
                            .register(meters));
        }
    }

    void count(Verdict verdict, int times) {
        Objects.requireNonNull(counters.get(verdict)).increment(times);
    }

    /**
     * @param times by the verdict's ordinal
     */
    void count(int[] times) {
        for (Verdict verdict : Verdict.values()) {
            if (times[verdict.ordinal()] > 0) {
                count(verdict, times[verdict.ordinal()]);
            }
        }
    }
}
