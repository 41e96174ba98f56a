package dev.puri.tail;

import java.time.Duration;

/**
 * The delays between attempts that fail: the first delay, then twice as long each time, up to the longest.
 *
 * @param first positive
 * @param longest at least the first
 */
public record RetryPolicy(Duration first, Duration longest) {
    /**
     * @throws IllegalArgumentException when the first delay is not positive or longer than the longest
     */
    public RetryPolicy {
        if (!first.isPositive() || first.compareTo(longest) > 0) {
            throw new IllegalArgumentException("no delays from " + first + " to " + longest);
        }
    }

    /** The same delay between all attempts. */
    public static RetryPolicy fixed(Duration delay) {
        return new RetryPolicy(delay, delay);
    }

    /** The delay that follows another. */
    Duration after(Duration delay) {
        Duration twice = delay.multipliedBy(2);
        return twice.compareTo(longest) > 0 ? longest : twice;
    }
}
