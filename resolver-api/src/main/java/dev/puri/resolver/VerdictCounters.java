package dev.puri.resolver;

import dev.puri.resolver.table.Verdict;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/** Counts the results of look-ups (verdicts) of one route of one listener. */
final class VerdictCounters {
    private final Map<Verdict, Counter> counters = new EnumMap<>(Verdict.class);

    VerdictCounters(String listener, String route, MeterRegistry meters) {
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

    void add(Verdict verdict, int count) {
        Objects.requireNonNull(counters.get(verdict)).increment(count);
    }

    /**
     * @param counts numbers of results, indexed by the ordinal of the verdict
     */
    void add(int[] counts) {
        for (Verdict verdict : Verdict.values()) {
            if (counts[verdict.ordinal()] > 0) {
                add(verdict, counts[verdict.ordinal()]);
            }
        }
    }
}
