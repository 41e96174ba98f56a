package dev.puri.benchmarks.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;

class ZipfTest {
    private static final int DRAWN = 200_000;

    @Test
    void frequentRanksHaveTheProbabilitiesOfZipfsLaw() {
        long count = 1_000_000;
        Zipf zipf = new Zipf(count, 0.99);
        Random random = new Random(1);
        int first = 0;
        int firstThousand = 0;
        for (int i = 0; i < DRAWN; i++) {
            long rank = zipf.rank(random);
            assertThat(rank).isBetween(0L, count - 1);
            first += rank == 0 ? 1 : 0;
            firstThousand += rank < 1000 ? 1 : 0;
        }
        double all = sum(count);
        assertThat((double) first / DRAWN).isCloseTo(1 / all, within(0.005));
        assertThat((double) firstThousand / DRAWN).isCloseTo(sum(1000) / all, within(0.02));
    }

    @Test
    void numbersAreThoseOfRows() {
        Zipf zipf = new Zipf(1000, 0.99);
        Random random = new Random(2);
        for (int i = 0; i < DRAWN; i++) {
            assertThat(zipf.next(random)).isBetween(0L, 999L);
        }
    }

    private static double sum(long count) {
        double sum = 0;
        for (long i = 1; i <= count; i++) {
            sum += Math.pow(i, -0.99);
        }
        return sum;
    }
}
