package dev.puri.cli;

import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * How much is logged, and in what form. To be set before the first logger is made, for its configuration
 * reads it once.
 */
final class Logging {
    /** The form: {@code text}, or {@code json}, an object a line. Not a setting, which are read too late for it. */
    static final String FORMAT_VARIABLE = "PURI_LOG_FORMAT";

    private Logging() {}

    /**
     * @param verbosity how often {@code -v} was given
     * @param serves whether the command is a server, which tells what it does without being asked
     * @param format of {@value #FORMAT_VARIABLE}; null or blank for text
     * @throws CommandException when there is no such form
     */
    static void set(int verbosity, boolean serves, @Nullable String format) {
        System.setProperty("puri.log.format", appender(format == null ? "" : format.strip()));
        int own = verbosity + (serves ? 1 : 0);
        System.setProperty("puri.log.own", level(own));
        // Kafka warns at length of what heals by itself; its errors are worth a line.
        System.setProperty("puri.log.others", verbosity == 0 ? "ERROR" : level(verbosity - 1));
        System.setProperty("puri.log.appends", verbosity == 0 ? "OFF" : level(verbosity - 1));
        // Lucene logs by the JDK's own, and warns of a module that is an incubator's.
        Logger.getLogger("").setLevel(verbosity == 0 ? Level.SEVERE : Level.INFO);
    }

    private static String appender(String format) {
        return switch (format) {
            case "", "text" -> "TEXT";
            case "json" -> "JSON";
            default -> throw CommandException.usage(FORMAT_VARIABLE + ": \"" + format + "\" is neither text nor json");
        };
    }

    private static String level(int verbosity) {
        return switch (verbosity) {
            case 0 -> "WARN";
            case 1 -> "INFO";
            default -> "DEBUG";
        };
    }
}
