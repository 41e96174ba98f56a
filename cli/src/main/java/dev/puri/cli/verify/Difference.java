package dev.puri.cli.verify;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A key whose value in a copy differs from its value in the source.
 *
 * @param part the part of the verification, for example {@code resolver}
 * @param copy the copy that was compared: a topic, a URL or a folder
 * @param partition the partition of the key; null if it is unknown
 * @param puri the pURI; null if only the key is known
 * @param key the key of the pURI in the registrar's stores, in hexadecimal digits; null if it is unknown
 * @param fields the fields that differ; all fields if only one side has the key. If the copy has a tombstone, the found
 *     position is that of its event
 * @param detail explains the difference; null if the fields say all
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Difference(
        @JsonProperty("part") String part,
        @JsonProperty("copy") String copy,
        @JsonProperty("partition") @Nullable Integer partition,
        @JsonProperty("puri") @Nullable String puri,
        @JsonProperty("key") @Nullable String key,
        @JsonProperty("difference") Kind kind,
        @JsonProperty("fields") Map<String, Field> fields,
        @JsonProperty("detail") @Nullable String detail) {
    /** Control and format characters, and separators of lines and paragraphs. */
    private static final Pattern HARMFUL = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");

    /** How a copy differs. */
    public enum Kind {
        /** The copy does not have the key. */
        MISSING,
        /** Only the copy has the key. */
        EXTRA,
        /** Both have the key, with different fields. */
        DIFFERS;

        @JsonValue
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }

        @JsonCreator
        static Kind of(String text) {
            return valueOf(text.toUpperCase(Locale.ROOT));
        }
    }

    /**
     * The two values of a field, as texts.
     *
     * @param expected the value of the source; null if it has none
     * @param found the value of the copy; null if it has none
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Field(
            @JsonProperty("expected") @Nullable String expected,
            @JsonProperty("found") @Nullable String found) {}

    /** Returns the kind of a difference between two states, of which at most one is null. */
    static Kind kind(@Nullable Map<String, String> expected, @Nullable Map<String, String> found) {
        return found == null ? Kind.MISSING : expected == null ? Kind.EXTRA : Kind.DIFFERS;
    }

    /** Returns the fields in which two states differ. A state that is null has no fields. */
    static Map<String, Field> fields(@Nullable Map<String, String> expected, @Nullable Map<String, String> found) {
        Map<String, String> left = expected == null ? Map.of() : expected;
        Map<String, String> right = found == null ? Map.of() : found;
        Map<String, String> names = new LinkedHashMap<>(left);
        right.forEach(names::putIfAbsent);
        Map<String, Field> fields = new LinkedHashMap<>();
        for (String name : names.keySet()) {
            if (!Objects.equals(left.get(name), right.get(name))) {
                fields.put(name, new Field(left.get(name), right.get(name)));
            }
        }
        return fields;
    }

    /**
     * Returns the difference as a line for the user. Keys and values may come from foreign producers, so characters
     * that could change other lines of a terminal are escaped.
     */
    @Override
    public String toString() {
        List<String> texts = new ArrayList<>();
        fields.forEach((name, field) -> texts.add(
                switch (kind) {
                    case MISSING -> name + " " + field.expected();
                    case EXTRA -> name + " " + field.found();
                    case DIFFERS -> name + " " + text(field.found()) + " instead of " + text(field.expected());
                }));
        if (detail != null) {
            texts.add(detail);
        }
        return escaped("%-7s  %s  %s%s  %s: %s"
                .formatted(
                        kind,
                        part,
                        copy,
                        partition == null ? "" : "-" + partition,
                        puri == null ? "key " + key : puri,
                        String.join(", ", texts)));
    }

    /** Escapes the characters of a text that could change other lines of a terminal. */
    public static String escaped(String text) {
        return HARMFUL.matcher(text)
                .replaceAll(
                        harmful -> String.format("\\\\u%04x", harmful.group().codePointAt(0)));
    }

    private static String text(@Nullable String value) {
        return value == null ? "none" : value;
    }
}
