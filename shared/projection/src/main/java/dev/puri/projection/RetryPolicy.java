package dev.puri.projection;

import java.time.Duration;

/**
 * The delays between the attempts of work that fails: each delay is twice the previous one, up to the
 * longest.
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
            throw new IllegalArgumentException(
                    "the first delay must be positive and at most the longest: " + first + ", " + longest);
        }
    }

    /** Returns a policy with the same delay between all attempts. */
    public static RetryPolicy fixed(Duration delay) {
        return new RetryPolicy(delay, delay);
    }

    /** Returns the delay that follows the given delay. */
    Duration after(Duration delay) {
        Duration doubled = delay.multipliedBy(2);
        return doubled.compareTo(longest) > 0 ? longest : doubled;
    }
}
