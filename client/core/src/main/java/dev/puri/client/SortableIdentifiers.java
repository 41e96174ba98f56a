package dev.puri.client;

import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Random;
import java.util.UUID;
import java.util.random.RandomGenerator;

/**
 * Creates identifiers whose text order is the order in which one process created them. An identifier has two parts: the
 * milliseconds since 1970, then a random part. While the clock does not advance, or after it was set back, the time
 * part keeps its value and the random part grows by random steps, so every identifier is greater than the previous one.
 * Identifiers of different processes are in the order of the processes' clocks.
 *
 * <p>Two processes that create an identifier in the same millisecond create the same identifier with a probability of 2
 * / (alphabet size)<sup>random length</sup>, because the first identifier of a millisecond uses only the lower half of
 * the random values. With 36 characters and a random length of 11 this is 1 : 6.6 · 10<sup>16</sup>. An identifier
 * reveals the time of creation. It does not reveal how many identifiers were created, because the steps are random. But
 * with fewer than 2<sup>21</sup> random values each step is 1.
 *
 * <p>Thread-safe.
 */
final class SortableIdentifiers implements Identifiers {
    /** In base 36, nine characters hold the milliseconds until the year 5188. */
    static final int TIME_LENGTH = 9;

    static final int RANDOM_LENGTH = 11;

    /** The characters of the time part must be able to hold this time. */
    private static final Instant LATEST_TIME = Instant.parse("2100-01-01T00:00:00Z");

    /** The sum of a random value and a step must fit into a long. */
    private static final long MAX_RANDOM_VALUES = 1L << 62;

    /** The largest step is randomValueCount / STEP_DIVISOR, so there are at least this many random values. */
    private static final long STEP_DIVISOR = 1 << 20;

    private final int timeLength;
    private final int randomLength;
    private final String alphabet;
    private final long randomValueCount;
    private final InstantSource clock;
    private final RandomGenerator random;

    private long lastMillis = Long.MIN_VALUE;
    private long lastRandomValue;

    /**
     * @param timeLength number of characters of the time part
     * @param randomLength number of characters of the random part
     * @param alphabet characters in ascending order of their codes
     * @throws IllegalArgumentException if the time does not fit until 2100, the random part has fewer than 2^20 or more
     *     than 2^62 values, or the alphabet is not sorted or has characters that pURIs convert to lower case or escape
     */
    SortableIdentifiers(int timeLength, int randomLength, String alphabet) {
        this(timeLength, randomLength, alphabet, InstantSource.system(), new SecureRandom());
    }

    SortableIdentifiers(int timeLength, int randomLength, String alphabet, InstantSource clock, Random random) {
        Alphabets.requireSorted(alphabet);
        if (power(alphabet.length(), timeLength) <= LATEST_TIME.toEpochMilli()) {
            throw new IllegalArgumentException("a time in milliseconds until " + LATEST_TIME + " does not fit into "
                    + timeLength + " characters from an alphabet of " + alphabet.length());
        }
        randomValueCount = power(alphabet.length(), randomLength);
        if (randomValueCount < STEP_DIVISOR || randomValueCount > MAX_RANDOM_VALUES) {
            throw new IllegalArgumentException(randomLength + " random characters from an alphabet of "
                    + alphabet.length() + " have fewer than 2^20 or more than 2^62 values");
        }
        this.timeLength = timeLength;
        this.randomLength = randomLength;
        this.alphabet = alphabet;
        this.clock = clock;
        this.random = random;
    }

    /** Returns base^length, the number of texts with this length; {@link Long#MAX_VALUE} if the number is larger. */
    private static long power(int base, int length) {
        long power = 1;
        for (int i = 0; i < length; i++) {
            if (power > Long.MAX_VALUE / base) {
                return Long.MAX_VALUE;
            }
            power *= base;
        }
        return length < 1 ? 0 : power;
    }

    @Override
    public String next(UUID uuid) {
        long millis;
        long randomValue;
        synchronized (this) {
            long now = clock.millis();
            if (now > lastMillis) {
                startMillisecond(now);
            } else {
                lastRandomValue += 1 + random.nextLong(randomValueCount / STEP_DIVISOR);
                if (lastRandomValue >= randomValueCount) {
                    // The random values of this millisecond are used up, so the time part runs ahead of the clock.
                    startMillisecond(lastMillis + 1);
                }
            }
            millis = lastMillis;
            randomValue = lastRandomValue;
        }
        char[] text = new char[timeLength + randomLength];
        write(millis, text, 0, timeLength);
        write(randomValue, text, timeLength, text.length);
        return new String(text);
    }

    private void startMillisecond(long newMillis) {
        lastMillis = newMillis;
        lastRandomValue = random.nextLong(randomValueCount / 2);
    }

    private void write(long number, char[] text, int from, int to) {
        long rest = number;
        for (int i = to - 1; i >= from; i--) {
            text[i] = alphabet.charAt((int) (rest % alphabet.length()));
            rest /= alphabet.length();
        }
    }
}
