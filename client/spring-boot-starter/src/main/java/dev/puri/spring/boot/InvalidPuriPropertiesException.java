package dev.puri.spring.boot;

import java.util.List;

/** Settings below {@code puri} that cannot be used. The message lists every mistake. */
final class InvalidPuriPropertiesException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    InvalidPuriPropertiesException(List<String> mistakes) {
        super("settings that cannot be used:\n  " + String.join("\n  ", mistakes));
    }
}
