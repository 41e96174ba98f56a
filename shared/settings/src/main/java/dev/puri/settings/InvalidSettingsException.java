package dev.puri.settings;

import java.util.List;

/** Thrown if settings are invalid. The message lists all mistakes, one on each line. */
public final class InvalidSettingsException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final transient List<String> mistakes;

    InvalidSettingsException(List<String> mistakes) {
        super(String.join(System.lineSeparator(), mistakes));
        this.mistakes = List.copyOf(mistakes);
    }

    /**
     * Throws the mistakes that the constructor of a settings record found.
     *
     * @throws InvalidSettingsException if the list is not empty
     */
    public static void throwIfAny(List<String> mistakes) {
        if (!mistakes.isEmpty()) {
            throw new InvalidSettingsException(mistakes);
        }
    }

    /** Returns the mistakes. Each has the setting's name as the user wrote it, the value, and the expectation. */
    public List<String> mistakes() {
        return mistakes;
    }
}
