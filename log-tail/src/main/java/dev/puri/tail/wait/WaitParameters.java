package dev.puri.tail.wait;

import dev.puri.http.ProblemType;
import dev.puri.http.RefusedException;
import dev.puri.schemas.log.Position;
import dev.puri.settings.Settings;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Parses the query parameters of a wait, {@code ?at=TOKEN&wait=2s}, and has the problems that they may have.
 *
 * @param maxWait of a request
 */
public record WaitParameters(Duration maxWait) {
    public static final ProblemType INVALID_PARAMETER =
            new ProblemType("invalid-parameter", "A query parameter has a value that it cannot have", 400);
    public static final ProblemType INVALID_TOKEN =
            new ProblemType("invalid-token", "The token is none that a publish returned", 400);
    public static final ProblemType FOREIGN_TOKEN =
            new ProblemType("foreign-token", "The token is of another object's event", 400);
    public static final ProblemType TOO_MANY_WAITERS =
            new ProblemType("too-many-waiters", "Too many requests wait for events", 503);

    /**
     * Parses a token.
     *
     * @throws RefusedException when it is invalid
     */
    public static Position token(String at) throws RefusedException {
        try {
            return Position.parse(at);
        } catch (IllegalArgumentException e) {
            throw new RefusedException(INVALID_TOKEN, sentence(String.valueOf(e.getMessage())));
        }
    }

    /**
     * Parses the duration of a wait.
     *
     * @param text null for zero
     * @throws RefusedException when it is no duration, or too long
     */
    public Duration wait(@Nullable String text) throws RefusedException {
        if (text == null) {
            return Duration.ZERO;
        }
        try {
            Duration wait = Settings.duration(text);
            if (wait.compareTo(maxWait) <= 0) {
                return wait;
            }
        } catch (IllegalArgumentException e) {
            // Reported below.
        }
        throw new RefusedException(
                INVALID_PARAMETER, "wait is a time such as 2s or 500ms, of " + maxWait.toMillis() + " ms at most.");
    }

    /** The message of an exception as a sentence: with a capital letter and a full stop. */
    public static String sentence(String text) {
        // A pURI at the beginning keeps its lower case.
        boolean beginsWithName = text.indexOf(':') >= 0 && text.indexOf(':') < (text + ' ').indexOf(' ');
        return (beginsWithName ? text : Character.toUpperCase(text.charAt(0)) + text.substring(1)) + ".";
    }
}
