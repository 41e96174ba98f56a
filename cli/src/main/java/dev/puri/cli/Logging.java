package dev.puri.cli;

import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Configures levels and format of the log. It must be called before the first logger is created, because Logback reads
 * the configuration only once.
 */
final class Logging {
    /**
     * The variable for the format: {@code text}, or {@code json} for one object per line. It is not a setting, because
     * settings are read after the first logger is created.
     */
    static final String FORMAT_VARIABLE = "PURI_LOG_FORMAT";

    private Logging() {}

    /**
     * Configures the log.
     *
     * @param verbosity the number of {@code -v} options
     * @param isServer whether the command is a server; servers log more by default
     * @param format the value of {@value #FORMAT_VARIABLE}; null or blank for text
     * @throws CommandException if the format is unknown
     */
    static void configure(int verbosity, boolean isServer, @Nullable String format) {
        System.setProperty("puri.log.format", appender(format == null ? "" : format.strip()));
        int ownVerbosity = verbosity + (isServer ? 1 : 0);
        System.setProperty("puri.log.own", level(ownVerbosity));
        // Kafka logs warnings about conditions from which it recovers, so only its errors are useful by default.
        System.setProperty("puri.log.others", verbosity == 0 ? "ERROR" : level(verbosity - 1));
        System.setProperty("puri.log.appends", verbosity == 0 ? "OFF" : level(verbosity - 1));
        // Lucene uses the JDK's logger. By default only its severe messages are logged, because it warns about the
        // missing incubator module for vectors.
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
