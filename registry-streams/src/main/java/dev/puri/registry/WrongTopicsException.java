package dev.puri.registry;

import java.util.List;

/** The cluster's topics are not what the registry needs; the message says what to change, a line each. */
public final class WrongTopicsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final List<String> mistakes;

    WrongTopicsException(List<String> mistakes) {
        super(String.join("\n", mistakes));
        this.mistakes = List.copyOf(mistakes);
    }

    /** What is wrong and what to change, a sentence each. */
    public List<String> mistakes() {
        return mistakes;
    }
}
