package dev.puri.client;

import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Random;
import java.util.UUID;
import java.util.random.RandomGenerator;

/**
 * Identifiers that sort, as text, in the order in which one process made them: milliseconds since 1970, then random
 * characters. When the clock stands still or is set back the time stays where it was and the random part counts on in
 * random steps, so that every identifier is greater than the one before. Between processes the order is that of their
 * clocks.
 *
 * <p>Two processes that make an identifier in the same millisecond make the same one with a probability of 2 /
 * alphabet<sup>random length</sup>: half of the random values are kept to count on. With 36 characters and 11 of them that
 * is 1 : 6.6 · 10<sup>16</sup>. An identifier reveals the time of creation and no count: steps between neighbours are random.
 *
 * <p>Thread-safe.
 */
final class SortableIdentifiers implements Identifiers {
    /** Enough in base 36 until the year 5188. */
    static final int TIME_LENGTH = 9;

    static final int RANDOM_LENGTH = 11;

    /** The time must fit into its characters until then. */
    private static final Instant LAST = Instant.parse("2100-01-01T00:00:00Z");

    /** Random values must fit into a long, with room to count on. */
    private static final long MAX_VALUES = 1L << 62;

    /** A step is at most the number of random values divided by this. */
    private static final long STEPS = 1 << 20;

    private final int timeLength;
    private final int randomLength;
    private final String alphabet;
    private final long values;
    private final InstantSource clock;
    private final RandomGenerator random;

    private long millis = Long.MIN_VALUE;
    private long value;

    /**
     * @param timeLength characters of the time
     * @param randomLength characters of the random part, which follows the time
     * @param alphabet in the order of the characters' codes
     * @throws IllegalArgumentException if the time does not fit until 2100, the random part has under 2^20 or over
     *     2^62 values, or the alphabet is not in order or has characters that pURIs fold or escape
     */
    SortableIdentifiers(int timeLength, int randomLength, String alphabet) {
        this(timeLength, randomLength, alphabet, InstantSource.system(), new SecureRandom());
    }

    SortableIdentifiers(int timeLength, int randomLength, String alphabet, InstantSource clock, Random random) {
        Alphabets.requireSorted(alphabet);
        if (power(alphabet.length(), timeLength) <= LAST.toEpochMilli()) {
            throw new IllegalArgumentException("the time in milliseconds does not fit into " + timeLength
                    + " characters of " + alphabet.length() + " until " + LAST);
        }
        values = power(alphabet.length(), randomLength);
        if (values < STEPS || values > MAX_VALUES) {
            throw new IllegalArgumentException(randomLength + " random characters of " + alphabet.length()
                    + " have fewer than 2^20 or more than 2^62 values");
        }
        this.timeLength = timeLength;
        this.randomLength = randomLength;
        this.alphabet = alphabet;
        this.clock = clock;
        this.random = random;
    }

    /** The number of texts of a length; {@link Long#MAX_VALUE} when it does not fit. */
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
        long time;
        long behind;
        synchronized (this) {
            long now = clock.millis();
            if (now > millis) {
                begin(now);
            } else {
                value += 1 + random.nextLong(values / STEPS);
                if (value >= values) {
                    // The random values of this millisecond are used up, so the time runs ahead of the clock.
                    begin(millis + 1);
                }
            }
            time = millis;
            behind = value;
        }
        char[] text = new char[timeLength + randomLength];
        write(time, text, 0, timeLength);
        write(behind, text, timeLength, text.length);
        return new String(text);
    }

    private void begin(long now) {
        millis = now;
        value = random.nextLong(values / 2);
    }

    private void write(long number, char[] text, int from, int to) {
        long rest = number;
        for (int i = to - 1; i >= from; i--) {
            text[i] = alphabet.charAt((int) (rest % alphabet.length()));
            rest /= alphabet.length();
        }
    }
}
