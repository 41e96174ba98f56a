package dev.puri.http;

/**
 * A value that no log, answer or message may show. A setting of this type may also be given by naming
 * a file that holds it: {@code PURI_X_FILE} for {@code PURI_X}.
 *
 * @param value the secret itself
 */
public record Secret(String value) {
    /** What stands in a secret's place. */
    static final String MASK = "********";

    @Override
    public String toString() {
        return MASK;
    }
}
