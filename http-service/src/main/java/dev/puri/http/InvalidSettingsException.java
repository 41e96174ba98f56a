package dev.puri.http;

import java.util.List;

/** Settings that cannot be used. The message lists every mistake, one a line. */
public final class InvalidSettingsException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final transient List<String> mistakes;

    InvalidSettingsException(List<String> mistakes) {
        super(String.join(System.lineSeparator(), mistakes));
        this.mistakes = List.copyOf(mistakes);
    }

    /**
     * Of settings that do not go together, all that is wrong.
     *
     * @throws InvalidSettingsException if anything is
     */
    public static void throwIfAny(List<String> mistakes) {
        if (!mistakes.isEmpty()) {
            throw new InvalidSettingsException(mistakes);
        }
    }

    /** Each names the setting as it was spelled, what it was given and what was expected. */
    public List<String> mistakes() {
        return mistakes;
    }
}
