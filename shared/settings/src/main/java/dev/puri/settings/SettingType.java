package dev.puri.settings;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The types of settings. Each type has a parser. */
enum SettingType {
    TEXT(String.class, "text", text -> text),
    SECRET(Secret.class, "secret", Secret::new),
    INT(int.class, "whole number", text -> Math.toIntExact(Long.parseLong(text))),
    LONG(long.class, "whole number", Long::parseLong),
    BOOLEAN(boolean.class, "true or false", SettingType::bool),
    DURATION(Duration.class, "duration such as 500ms, 30s, 5m or PT30S", SettingType::duration),
    PATH(Path.class, "path of a file or folder", SettingType::path),
    URL(URI.class, "URL such as http://127.0.0.1:8081/path", SettingType::url),
    LIST(List.class, "list separated by commas", SettingType::list);

    private static final Pattern SIMPLE_DURATION = Pattern.compile("(\\d{1,15}) ?(ms|s|m|min|h|d)");

    private final Class<?> javaType;
    private final String expectation;
    private final Function<String, Object> parser;

    SettingType(Class<?> javaType, String expectation, Function<String, Object> parser) {
        this.javaType = javaType;
        this.expectation = expectation;
        this.parser = parser;
    }

    static SettingType of(Class<?> type) {
        for (SettingType candidate : values()) {
            if (boxed(candidate.javaType) == boxed(type)) {
                return candidate;
            }
        }
        throw new IllegalStateException("no setting can be a " + type.getName());
    }

    /** Returns a description of valid values, for messages and documentation. */
    String expectation() {
        return expectation;
    }

    /**
     * @throws IllegalArgumentException if the text is not a value of this type
     */
    Object parse(String text) {
        try {
            return parser.apply(text);
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException("too large", e);
        }
    }

    /** Compares numbers and durations; other types have no order. */
    int compare(Object value, Object bound) {
        return switch (this) {
            case INT -> Integer.compare((Integer) value, (Integer) bound);
            case LONG -> Long.compare((Long) value, (Long) bound);
            case DURATION -> ((Duration) value).compareTo((Duration) bound);
            case TEXT, SECRET, BOOLEAN, PATH, URL, LIST -> throw new IllegalStateException(this + " has no bounds");
        };
    }

    private static Class<?> boxed(Class<?> type) {
        if (type == int.class) {
            return Integer.class;
        }
        if (type == long.class) {
            return Long.class;
        }
        return type == boolean.class ? Boolean.class : type;
    }

    private static boolean bool(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException();
        };
    }

    private static Duration duration(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        Matcher simple = SIMPLE_DURATION.matcher(lower);
        if (!simple.matches()) {
            try {
                return Duration.parse(text);
            } catch (DateTimeParseException e) {
                throw new IllegalArgumentException(e);
            }
        }
        long amount = Long.parseLong(simple.group(1));
        return switch (simple.group(2)) {
            case "ms" -> Duration.ofMillis(amount);
            case "s" -> Duration.ofSeconds(amount);
            case "h" -> Duration.ofHours(amount);
            case "d" -> Duration.ofDays(amount);
            default -> Duration.ofMinutes(amount);
        };
    }

    private static Path path(String text) {
        try {
            return Path.of(text);
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static URI url(String text) {
        try {
            URI url = new URI(text);
            if (url.getScheme() == null || url.getHost() == null) {
                throw new IllegalArgumentException();
            }
            return url;
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static List<String> list(String text) {
        return Arrays.stream(text.split(",", -1))
                .map(String::strip)
                .filter(item -> !item.isEmpty())
                .toList();
    }
}
