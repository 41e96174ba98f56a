package dev.puri.cli;

import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Configures level and format of the log. Must be called before the first logger is created, because the configuration
 * is read only once.
 */
final class Logging {
    /**
     * The format: {@code text}, or {@code json} with an object per line. Not a setting, because settings are read
     * later.
     */
    static final String FORMAT_VARIABLE = "PURI_LOG_FORMAT";

    private Logging() {}

    /**
     * @param verbosity number of {@code -v} options
     * @param serves whether the command is a server, which logs more by default
     * @param format value of {@value #FORMAT_VARIABLE}; null or blank for text
     * @throws CommandException if the format is unknown
     */
    static void set(int verbosity, boolean serves, @Nullable String format) {
        System.setProperty("puri.log.format", appender(format == null ? "" : format.strip()));
        int own = verbosity + (serves ? 1 : 0);
        System.setProperty("puri.log.own", level(own));
        // Kafka logs warnings about conditions that it recovers from; only its errors are useful by default.
        System.setProperty("puri.log.others", verbosity == 0 ? "ERROR" : level(verbosity - 1));
        System.setProperty("puri.log.appends", verbosity == 0 ? "OFF" : level(verbosity - 1));
        // Lucene uses the JDK's logger, and warns about an incubator module.
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
