package dev.puri.projection.wait;

import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.http.RefusedException;
import dev.puri.schemas.log.Position;
import dev.puri.settings.Settings;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Parses the query parameters of a wait, {@code ?at=TOKEN&wait=2s}, and defines the problem types of waits.
 *
 * @param maxWait the longest wait that a request may ask for
 */
public record WaitParameters(Duration maxWait) {
    public static final ProblemType INVALID_TOKEN = new ProblemType("invalid-token", "The token is not valid", 400);
    public static final ProblemType FOREIGN_TOKEN =
            new ProblemType("foreign-token", "The token is of an event of another object", 400);
    public static final ProblemType TOO_MANY_WAITERS =
            new ProblemType("too-many-waiters", "Too many requests wait for events", 503);

    /**
     * Parses a token.
     *
     * @throws RefusedException if the token is invalid
     */
    public static Position parseToken(String at) throws RefusedException {
        try {
            return Position.parse(at);
        } catch (IllegalArgumentException e) {
            throw new RefusedException(INVALID_TOKEN, Problem.sentence(String.valueOf(e.getMessage())));
        }
    }

    /**
     * Parses the duration of a wait.
     *
     * @param text null for no wait
     * @throws RefusedException if the text is not a duration, or the wait is too long
     */
    public Duration parseWait(@Nullable String text) throws RefusedException {
        if (text == null) {
            return Duration.ZERO;
        }
        try {
            Duration wait = Settings.duration(text);
            if (!wait.isNegative() && wait.compareTo(maxWait) <= 0) {
                return wait;
            }
        } catch (IllegalArgumentException | ArithmeticException e) {
            // Refused below. A number of days may overflow.
        }
        throw new RefusedException(
                ProblemType.INVALID_PARAMETER,
                "wait must be a duration such as 2s or 500ms, at most " + maxWait.toMillis() + " ms.");
    }
}
