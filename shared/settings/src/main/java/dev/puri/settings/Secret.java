package dev.puri.settings;

/**
 * A value that logs, responses and messages must not show. The environment variable {@code PURI_X_FILE} may name a file
 * that contains the value of {@code PURI_X}.
 *
 * @param value the secret itself
 */
public record Secret(String value) {
    /** The text that is printed instead of a secret. */
    static final String MASK = "********";

    @Override
    public String toString() {
        return MASK;
    }
}
