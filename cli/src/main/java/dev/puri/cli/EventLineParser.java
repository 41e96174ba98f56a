package dev.puri.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One JSON object a line to an {@link EventLine}:
 *
 * <pre>{@code
 * {"type":"created","puri":"soundcloud:tracks:1","owner":"catalog","shard":"br-1",
 *  "uuid":…,"handle":…,"attributes":{"title":"…"}}
 * {"type":"moved","puri":…,"shard":…,"owner":…}
 * {"type":"described","puri":…,"attributes":{…}}
 * {"type":"merged","puri":…,"into":…}
 * {"type":"deleted","puri":…}
 * {"type":"erased","puri":…}
 * }</pre>
 *
 * and with each of them {@code eventId}, {@code occurredAt}, {@code source}, {@code expectedEpoch}
 * and, as a guard, {@code uuid}. {@code null} is as good as absent, but for {@code "handle":null},
 * which asks for none. Nothing is guessed: an unknown field, a doubled one or one of the wrong kind is
 * a mistake, for it would silently not do what was meant. All mistakes of a line are found at once.
 */
final class EventLineParser {
    private static final List<String> COMMON =
            List.of("type", "puri", "eventId", "occurredAt", "source", "uuid", "expectedEpoch");

    private static final Map<String, List<String>> FIELDS = Map.of(
            "created", with("owner", "shard", "handle", "attributes"),
            "moved", with("owner", "shard"),
            "described", with("attributes"),
            "merged", with("into"),
            "deleted", with(),
            "erased", with());

    private static final List<String> TYPES = List.of("created", "moved", "described", "merged", "deleted", "erased");

    private static final String HALF_A_CHARACTER = "a text with half of a surrogate pair";

    private static final Pattern PARSER_TALK = Pattern.compile(
            "\\s*\\(start marker at .*|,? ?[:;]? ?\\(?(?:enable|from) `[^`]*`(?: to allow)?\\)?|,? ?\\(from `[^`]*`\\)");

    private static final JsonFactory JSON = JsonFactory.builder().build();

    private EventLineParser() {}

    /** What a line says, or everything that is wrong with it. */
    sealed interface Parsed {}

    record Good(EventLine line) implements Parsed {}

    /**
     * @param mistakes at least one, each as {@code field: reason}, or a reason alone where it is no
     *     object at all
     */
    record Bad(List<String> mistakes) implements Parsed {
        Bad {
            mistakes = List.copyOf(mistakes);
        }
    }

    static Parsed parse(String line) {
        List<String> mistakes = new ArrayList<>();
        Map<String, @Nullable Object> fields;
        try {
            fields = fields(line, mistakes);
        } catch (JsonProcessingException e) {
            return new Bad(List.of("not JSON: " + plain(e.getOriginalMessage()) + ", at column "
                    + (e.getLocation() == null ? "1" : e.getLocation().getColumnNr()) + hint(line)));
        } catch (IOException e) {
            // Text in memory cannot fail to be read.
            throw new UncheckedIOException(e);
        }
        if (fields == null) {
            return new Bad(List.of("not a JSON object such as {\"type\":\"deleted\",\"puri\":\"a:b:c\"}" + hint(line)));
        }
        EventLine event = new Reading(fields, mistakes).event();
        return event == null || !mistakes.isEmpty() ? new Bad(mistakes) : new Good(event);
    }

    /** Values are String, Long, null, a map of attributes, or {@link WrongKind}; null when it is no object. */
    private static @Nullable Map<String, @Nullable Object> fields(String line, List<String> mistakes)
            throws IOException {
        try (JsonParser parser = JSON.createParser(line)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                return null;
            }
            Map<String, @Nullable Object> fields = new LinkedHashMap<>();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                parser.nextToken();
                @Nullable Object value = value(parser);
                if (fields.containsKey(name)) {
                    mistakes.add(shown(name) + ": given twice");
                }
                fields.put(name, value);
            }
            if (parser.nextToken() != null) {
                mistakes.add("more follows the object; one line is one event");
            }
            return fields;
        }
    }

    private static @Nullable Object value(JsonParser parser) throws IOException {
        return switch (parser.currentToken()) {
            case VALUE_STRING -> text(parser);
            case VALUE_NULL -> null;
            case VALUE_TRUE, VALUE_FALSE -> new WrongKind("true or false");
            case VALUE_NUMBER_INT ->
                parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                        ? new WrongKind("a number of more than 64 bits")
                        : (Object) parser.getLongValue();
            case VALUE_NUMBER_FLOAT -> new WrongKind("a fraction");
            case START_OBJECT -> members(parser);
            default -> {
                parser.skipChildren();
                yield new WrongKind("a list");
            }
        };
    }

    /** JSON may escape half of a surrogate pair; Avro would make a question mark of it. */
    private static Object text(JsonParser parser) throws IOException {
        String text = parser.getText();
        return isUnicode(text) ? text : new WrongKind(HALF_A_CHARACTER);
    }

    private static boolean isUnicode(String text) {
        return text.codePoints().noneMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
    }

    private static Members members(JsonParser parser) throws IOException {
        Map<String, String> texts = new LinkedHashMap<>();
        List<String> mistakes = new ArrayList<>();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            if (parser.nextToken() != JsonToken.VALUE_STRING) {
                parser.skipChildren();
                mistakes.add(shown(name) + " is not a text");
            } else if (!(text(parser) instanceof String text) || !isUnicode(name)) {
                mistakes.add(shown(name) + " is " + HALF_A_CHARACTER);
            } else if (texts.put(name, text) != null) {
                mistakes.add(shown(name) + " is given twice");
            }
        }
        return new Members(texts, mistakes);
    }

    private record WrongKind(String what) {}

    private record Members(Map<String, String> texts, List<String> mistakes) {}

    private static List<String> with(String... more) {
        List<String> all = new ArrayList<>(COMMON);
        all.addAll(List.of(more));
        return List.copyOf(all);
    }

    /** Field names come from the input too, so they are shortened and escaped. */
    private static String shown(String name) {
        StringBuilder shown = new StringBuilder();
        for (char c : name.substring(0, Math.min(name.length(), 60)).toCharArray()) {
            shown.append(Character.isISOControl(c) ? '?' : c);
        }
        return shown.append(name.length() > 60 ? "…" : "").toString();
    }

    /** The parser's message without the names of its own switches and places. */
    static String plain(String message) {
        return PARSER_TALK
                .matcher(message.lines().findFirst().orElse(""))
                .replaceAll("")
                .strip();
    }

    private static String hint(String line) {
        String text = line.strip();
        return text.equals("{") || text.equals("[") ? "; one object a line" : "";
    }

    /** Takes the fields of one line apart and collects what is wrong. */
    private static final class Reading {
        private final Map<String, @Nullable Object> fields;
        private final List<String> mistakes;

        Reading(Map<String, @Nullable Object> fields, List<String> mistakes) {
            this.fields = fields;
            this.mistakes = mistakes;
        }

        /** Null when a mistake left nothing to make an event of. */
        @Nullable
        EventLine event() {
            String type = required("type", text -> text);
            if (type == null) {
                return null;
            }
            List<String> known = FIELDS.get(type);
            if (known == null) {
                mistakes.add("type: \"" + shown(type) + "\" is none of " + String.join(", ", TYPES));
                return null;
            }
            for (String name : fields.keySet()) {
                if (!known.contains(name)) {
                    mistakes.add(shown(name) + ": no such field in a " + type + " event; it has "
                            + String.join(", ", known));
                }
            }
            Puri puri = required("puri", Puri::parse);
            UUID eventId = optional("eventId", Reading::uuid);
            Instant occurredAt = optional("occurredAt", Reading::instant);
            String source = optional("source", text -> text);
            UUID uuid = optional("uuid", Reading::uuid);
            Long expectedEpoch = expectedEpoch();
            EventLine.What what = what(type, uuid);
            if (puri == null || what == null) {
                return null;
            }
            UUID guard = what instanceof EventLine.Creation ? null : uuid;
            return new EventLine(eventId, puri, occurredAt, source, guard, expectedEpoch, what);
        }

        private EventLine.@Nullable What what(String type, @Nullable UUID uuid) {
            return switch (type) {
                case "created" -> creation(uuid);
                case "moved" -> {
                    Owner owner = optional("owner", Owner::parse);
                    Shard shard = required("shard", Shard::parse);
                    yield shard == null ? null : new EventLine.Complete(new Change.Moved(owner, shard));
                }
                case "described" -> {
                    Map<String, String> attributes = attributes();
                    if (attributes == null) {
                        mistakes.add("attributes: missing");
                    }
                    yield attributes == null ? null : new EventLine.Complete(new Change.Described(attributes));
                }
                case "merged" -> {
                    Puri into = required("into", Puri::parse);
                    yield into == null ? null : new EventLine.Complete(new Change.Merged(into));
                }
                case "deleted" -> new EventLine.Complete(new Change.Deleted());
                case "erased" -> new EventLine.Complete(new Change.Erased());
                default -> throw new IllegalStateException("a type without a case: " + type);
            };
        }

        private EventLine.@Nullable What creation(@Nullable UUID uuid) {
            Owner owner = required("owner", Owner::parse);
            Shard shard = required("shard", Shard::parse);
            Map<String, String> attributes = attributes();
            EventLine.HandleWish handle = handle();
            return owner == null || shard == null
                    ? null
                    : new EventLine.Creation(uuid, owner, shard, handle, attributes == null ? Map.of() : attributes);
        }

        private EventLine.HandleWish handle() {
            if (!fields.containsKey("handle")) {
                return new EventLine.MintedHandle();
            }
            Handle handle = optional("handle", Handle::parse);
            return handle == null ? new EventLine.NoHandle() : new EventLine.GivenHandle(handle);
        }

        private <T> @Nullable T required(String name, Function<String, T> parse) {
            if (fields.get(name) == null) {
                mistakes.add(name + ": missing");
                return null;
            }
            return optional(name, parse);
        }

        private <T> @Nullable T optional(String name, Function<String, T> parse) {
            Object value = fields.get(name);
            if (value == null) {
                return null;
            }
            if (!(value instanceof String text)) {
                mistakes.add(name + ": a text is expected, not " + kind(value));
                return null;
            }
            try {
                return parse.apply(text);
            } catch (IllegalArgumentException e) {
                mistakes.add(name + ": " + e.getMessage());
                return null;
            }
        }

        private @Nullable Long expectedEpoch() {
            Object value = fields.get("expectedEpoch");
            if (value == null || value instanceof Long) {
                return (Long) value;
            }
            mistakes.add("expectedEpoch: a whole number is expected, not " + kind(value));
            return null;
        }

        /** Null when there are none; what is wrong with single ones is a mistake of its own. */
        private @Nullable Map<String, String> attributes() {
            Object value = fields.get("attributes");
            if (value == null) {
                return null;
            }
            if (!(value instanceof Members members)) {
                mistakes.add("attributes: an object of texts is expected, not " + kind(value));
                return Map.of();
            }
            members.mistakes().forEach(mistake -> mistakes.add("attributes: " + mistake));
            return members.texts();
        }

        private static String kind(Object value) {
            return switch (value) {
                case WrongKind wrong -> wrong.what();
                case Long number -> "the number " + number;
                case Members members -> "an object";
                default -> "a text";
            };
        }

        /** Not {@link UUID#fromString} alone, which takes {@code 1-1-1-1-1}. */
        private static UUID uuid(String text) {
            UUID uuid = text.length() == 36 ? UUID.fromString(text) : null;
            if (uuid == null || !uuid.toString().equalsIgnoreCase(text)) {
                throw new IllegalArgumentException(
                        "\"" + shown(text) + "\" is no uuid such as 0197c3a2-5b1e-7c4d-8e9f-0a1b2c3d4e5f");
            }
            return uuid;
        }

        private static Instant instant(String text) {
            try {
                return OffsetDateTime.parse(text).toInstant();
            } catch (DateTimeException e) {
                throw new IllegalArgumentException(
                        "\"" + shown(text) + "\" is no time with an offset such as 2026-11-20T09:30:00Z", e);
            }
        }
    }
}
