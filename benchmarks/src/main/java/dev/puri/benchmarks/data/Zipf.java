package dev.puri.benchmarks.data;

import java.util.Random;

/**
 * Draws numbers of which few come often, as Gray et al. do (Quickly Generating Billion-Record Synthetic Databases,
 * 1994) and YCSB after them. The frequent ones lie scattered, as popular rows do.
 */
public final class Zipf {
    /** Up to here the sum is taken term by term, from here on as an integral. */
    private static final long EXACT = 100_000;

    private final long count;
    private final double exponent;
    private final double sum;
    private final double alpha;
    private final double eta;

    /**
     * Draws numbers below a count.
     *
     * @param exponent above 0 and below 1
     */
    public Zipf(long count, double exponent) {
        this.count = count;
        this.exponent = exponent;
        sum = sum(count, exponent);
        alpha = 1 / (1 - exponent);
        eta = (1 - Math.pow(2.0 / count, 1 - exponent)) / (1 - sum(2, exponent) / sum);
    }

    private static double sum(long count, double exponent) {
        double sum = 0;
        for (long i = 1; i <= Math.min(count, EXACT); i++) {
            sum += Math.pow(i, -exponent);
        }
        return count <= EXACT ? sum : sum + integral(count + 0.5, exponent) - integral(EXACT + 0.5, exponent);
    }

    private static double integral(double to, double exponent) {
        return Math.pow(to, 1 - exponent) / (1 - exponent);
    }

    /** Draws a rank, from 0, the most frequent. */
    public long rank(Random random) {
        double drawn = random.nextDouble();
        double scaled = drawn * sum;
        if (scaled < 1) {
            return 0;
        }
        if (scaled < 1 + Math.pow(0.5, exponent)) {
            return 1;
        }
        return Math.min(count - 1, (long) (count * Math.pow(eta * drawn - eta + 1, alpha)));
    }

    /** Draws a number. */
    public long next(Random random) {
        return Long.remainderUnsigned(Population.mixed(rank(random)), count);
    }
}
