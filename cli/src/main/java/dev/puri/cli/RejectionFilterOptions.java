package dev.puri.cli;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.settings.Settings;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of all commands that select rejections. */
final class RejectionFilterOptions {
    @Option(
            names = "--reason",
            paramLabel = "REASON",
            description = "Select refusals with this reason, such as NOT_ALLOWED. May be repeated.")
    private List<String> reasons = List.of();

    @Option(
            names = "--puri",
            paramLabel = "PURI",
            description = "Select events of this pURI. Its case does not matter.")
    private @Nullable String puri;

    @Option(
            names = "--position",
            paramLabel = "TOKEN",
            description = "Select the event at this position, as the column EVENT of list shows it. May be repeated.")
    private List<String> positions = List.of();

    @Option(
            names = "--since",
            paramLabel = "TIME",
            description = "Select events that were refused at this time or later: an instant such as"
                    + " 2026-03-01T10:00:00Z, or a duration before now such as 90m, 2h or 7d.")
    private @Nullable String since;

    @Option(
            names = "--until",
            paramLabel = "TIME",
            description = "Select events that were refused before this time, in the same format.")
    private @Nullable String until;

    /** Parses options, and collects the mistakes in all of them. */
    private static final class Parser {
        final List<String> mistakes = new ArrayList<>();

        <T> @Nullable T parse(String option, @Nullable String text, Function<String, T> parse) {
            try {
                return text == null ? null : parse.apply(text);
            } catch (IllegalArgumentException e) {
                mistakes.add(option + ": " + e.getMessage());
                return null;
            }
        }

        <T> List<T> parseAll(String option, List<String> texts, Function<String, T> parse) {
            List<T> values = new ArrayList<>();
            for (String text : texts) {
                T value = parse(option, text, parse);
                if (value != null) {
                    values.add(value);
                }
            }
            return values;
        }
    }

    /**
     * Returns the filter.
     *
     * @param now the time that durations are subtracted from
     * @throws CommandException if an option is invalid; the message lists all mistakes
     */
    RejectionFilter parse(Instant now) {
        Parser parser = new Parser();
        List<Reason> parsedReasons = parser.parseAll("--reason", reasons, RejectionFilterOptions::parseReason);
        List<Position> parsedPositions = parser.parseAll("--position", positions, Position::parse);
        Puri parsedPuri = parser.parse("--puri", puri, Puri::parse);
        Instant parsedSince = parser.parse("--since", since, text -> parseTime(text, now));
        Instant parsedUntil = parser.parse("--until", until, text -> parseTime(text, now));
        if (parsedSince != null && parsedUntil != null && !parsedSince.isBefore(parsedUntil)) {
            parser.mistakes.add("--until: " + parsedUntil + " must be after --since, " + parsedSince);
        }
        CommandException.requireUsage(parser.mistakes.isEmpty(), String.join("\n", parser.mistakes));
        return new RejectionFilter(
                Set.copyOf(parsedReasons), Set.copyOf(parsedPositions), parsedPuri, parsedSince, parsedUntil);
    }

    private static Reason parseReason(String text) {
        try {
            return Reason.valueOf(text.strip().toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is not a reason; the reasons are " + Arrays.toString(Reason.values()), e);
        }
    }

    static Instant parseTime(String text, Instant now) {
        try {
            return Instant.parse(text.strip());
        } catch (DateTimeException e) {
            // Not an instant; parsed as a duration below.
        }
        try {
            Duration age = Settings.duration(text.strip());
            if (age.isNegative()) {
                throw new IllegalArgumentException("negative");
            }
            return now.minus(age);
        } catch (IllegalArgumentException | DateTimeException | ArithmeticException e) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is neither an instant such as 2026-03-01T10:00:00Z nor a duration such as 90m, 2h"
                            + " or 7d",
                    e);
        }
    }
}
