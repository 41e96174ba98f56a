package dev.puri.benchmarks.data;

import java.util.Random;

/**
 * A random generator with Zipf's distribution, which draws few numbers often. It uses the algorithm of Gray et al.
 * (Quickly Generating Billion-Record Synthetic Databases, 1994), as YCSB does. The frequent numbers are scattered over
 * the whole range, as popular rows are.
 */
public final class Zipf {
    /** Number of terms that are summed; the sum of the other terms is approximated by an integral. */
    private static final long SUMMED_TERMS = 100_000;

    private final long count;
    private final double exponent;
    private final double sum;
    private final double alpha;
    private final double eta;

    /**
     * Creates a generator of numbers from 0 to {@code count - 1}.
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
        for (long i = 1; i <= Math.min(count, SUMMED_TERMS); i++) {
            sum += Math.pow(i, -exponent);
        }
        return count <= SUMMED_TERMS
                ? sum
                : sum + integral(count + 0.5, exponent) - integral(SUMMED_TERMS + 0.5, exponent);
    }

    private static double integral(double to, double exponent) {
        return Math.pow(to, 1 - exponent) / (1 - exponent);
    }

    /** Draws a rank; rank 0 is the most frequent. */
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
