package dev.puri.registry;

import java.util.List;

/** Thrown if the cluster's topics are unsuitable for the registry. The message has one line for each mistake. */
public final class WrongTopicsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    WrongTopicsException(List<String> mistakes) {
        super(String.join("\n", mistakes));
    }
}
