package dev.puri.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import dev.puri.client.IdentityMinter;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.InstantSource;
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
 * Parses an input line of {@code puri publish}, a JSON object, to an {@link Event}:
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
 * Each type may also have {@code eventId}, {@code occurredAt}, {@code source}, {@code expectedEpoch} and, as a guard,
 * {@code uuid}. {@code null} means absent, except for {@code "handle":null}, which means no handle. Unknown and
 * duplicate fields and values of the wrong type are mistakes, because an event without them would not be what the user
 * meant. All mistakes of a line are reported together.
 *
 * <p>Omitted fields have defaults: new ids, the time of parsing, the source {@value #DEFAULT_SOURCE}, and a new handle
 * if the collection has a prefix.
 */
final class EventLineParser {
    private static final String DEFAULT_SOURCE = "puri-cli";

    private static final List<String> COMMON_FIELDS =
            List.of("type", "puri", "eventId", "occurredAt", "source", "uuid", "expectedEpoch");

    private static final Map<String, List<String>> FIELDS_BY_TYPE = Map.of(
            "created", commonFieldsAnd("owner", "shard", "handle", "attributes"),
            "moved", commonFieldsAnd("owner", "shard"),
            "described", commonFieldsAnd("attributes"),
            "merged", commonFieldsAnd("into"),
            "deleted", commonFieldsAnd(),
            "erased", commonFieldsAnd());

    private static final List<String> TYPES = List.of("created", "moved", "described", "merged", "deleted", "erased");

    private static final String LONE_SURROGATE = "a text with half of a surrogate pair";

    /** The parts of Jackson's messages that name Jackson's features and source locations. */
    private static final Pattern JACKSON_DETAILS = Pattern.compile(
            "\\s*\\(start marker at .*|,? ?[:;]? ?\\(?(?:enable|from) `[^`]*`(?: to allow)?\\)?|,? ?\\(from `[^`]*`\\)");

    private static final JsonFactory JSON = JsonFactory.builder().build();

    private final IdentityMinter minter;
    private final Declarations declarations;
    private final InstantSource clock;

    /**
     * @param declarations the declarations, for the prefixes of collections
     */
    EventLineParser(IdentityMinter minter, Declarations declarations, InstantSource clock) {
        this.minter = minter;
        this.declarations = declarations;
        this.clock = clock;
    }

    /** The result of parsing a line: the event or the mistakes. */
    sealed interface Result {}

    record Valid(Event event) implements Result {}

    /**
     * @param mistakes at least one, each with the name of its field, or only a reason if the line is not an object
     */
    record Invalid(List<String> mistakes) implements Result {
        Invalid {
            mistakes = List.copyOf(mistakes);
        }
    }

    Result parse(String line) {
        List<String> mistakes = new ArrayList<>();
        Map<String, @Nullable Object> fields;
        try {
            fields = fields(line, mistakes);
        } catch (JsonProcessingException e) {
            return new Invalid(List.of("not JSON: " + withoutJacksonDetails(e.getOriginalMessage()) + ", at column "
                    + (e.getLocation() == null ? "1" : e.getLocation().getColumnNr()) + hint(line)));
        } catch (IOException e) {
            // Reading from memory cannot fail.
            throw new UncheckedIOException(e);
        }
        if (fields == null) {
            return new Invalid(
                    List.of("not a JSON object such as {\"type\":\"deleted\",\"puri\":\"a:b:c\"}" + hint(line)));
        }
        Event event = new LineFields(fields, mistakes).event();
        return event == null || !mistakes.isEmpty() ? new Invalid(mistakes) : new Valid(event);
    }

    /**
     * Parses the fields of a line. Each value is a String, a Long, null, a {@link Members} or an {@link
     * UnsupportedValue}. Returns null if the line is not an object.
     */
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
                    mistakes.add(printable(name) + ": given twice");
                }
                fields.put(name, value);
            }
            if (parser.nextToken() != null) {
                mistakes.add("more text follows the object; a line must contain one event");
            }
            return fields;
        }
    }

    private static @Nullable Object value(JsonParser parser) throws IOException {
        return switch (parser.currentToken()) {
            case VALUE_STRING -> text(parser);
            case VALUE_NULL -> null;
            case VALUE_TRUE, VALUE_FALSE -> new UnsupportedValue("true or false");
            case VALUE_NUMBER_INT ->
                parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                        ? new UnsupportedValue("a number of more than 64 bits")
                        : (Object) parser.getLongValue();
            case VALUE_NUMBER_FLOAT -> new UnsupportedValue("a fraction");
            case START_OBJECT -> members(parser);
            default -> {
                parser.skipChildren();
                yield new UnsupportedValue("a list");
            }
        };
    }

    /** Rejects a text with a lone surrogate. JSON can contain one, but Avro would replace it by a question mark. */
    private static Object text(JsonParser parser) throws IOException {
        String text = parser.getText();
        return isUnicode(text) ? text : new UnsupportedValue(LONE_SURROGATE);
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
                mistakes.add(printable(name) + " is not a text");
            } else if (!(text(parser) instanceof String text) || !isUnicode(name)) {
                mistakes.add(printable(name) + " is " + LONE_SURROGATE);
            } else if (texts.put(name, text) != null) {
                mistakes.add(printable(name) + " is given twice");
            }
        }
        return new Members(texts, mistakes);
    }

    /** A JSON value of a type that no field has. */
    private record UnsupportedValue(String description) {}

    /** The members of a JSON object that are texts, and the mistakes in the other members. */
    private record Members(Map<String, String> texts, List<String> mistakes) {}

    private static List<String> commonFieldsAnd(String... additionalFields) {
        List<String> fields = new ArrayList<>(COMMON_FIELDS);
        fields.addAll(List.of(additionalFields));
        return List.copyOf(fields);
    }

    /** Shortens an untrusted text and replaces its control characters, for messages. */
    private static String printable(String text) {
        StringBuilder printable = new StringBuilder();
        for (char c : text.substring(0, Math.min(text.length(), 60)).toCharArray()) {
            printable.append(Character.isISOControl(c) ? '?' : c);
        }
        return printable.append(text.length() > 60 ? "…" : "").toString();
    }

    /** Removes the names of Jackson's features and source locations from a message of Jackson. */
    static String withoutJacksonDetails(String message) {
        return JACKSON_DETAILS
                .matcher(message.lines().findFirst().orElse(""))
                .replaceAll("")
                .strip();
    }

    /** Returns a hint for JSON that was formatted over several lines, or else an empty text. */
    private static String hint(String line) {
        String text = line.strip();
        return text.equals("{") || text.equals("[") ? "; write one object a line" : "";
    }

    /** Converts the fields of a line to an event, and collects mistakes. */
    private final class LineFields {
        private final Map<String, @Nullable Object> fields;
        private final List<String> mistakes;

        LineFields(Map<String, @Nullable Object> fields, List<String> mistakes) {
            this.fields = fields;
            this.mistakes = mistakes;
        }

        /** Returns the event, or null if a mistake prevents the conversion. */
        @Nullable
        Event event() {
            String type = required("type", text -> text);
            if (type == null) {
                return null;
            }
            List<String> knownFields = FIELDS_BY_TYPE.get(type);
            if (knownFields == null) {
                mistakes.add("type: \"" + printable(type) + "\" is none of " + String.join(", ", TYPES));
                return null;
            }
            for (String name : fields.keySet()) {
                if (!knownFields.contains(name)) {
                    mistakes.add(printable(name) + ": no such field in a " + type + " event; its fields are "
                            + String.join(", ", knownFields));
                }
            }
            Puri puri = required("puri", Puri::parse);
            UUID eventId = optional("eventId", LineFields::uuid);
            Instant occurredAt = optional("occurredAt", LineFields::instant);
            String source = optional("source", text -> text);
            UUID uuid = optional("uuid", LineFields::uuid);
            Long expectedEpoch = expectedEpoch();
            try {
                Change change = change(type, puri, uuid);
                return puri == null || change == null
                        ? null
                        : new Event(
                                eventId == null ? minter.uuid() : eventId,
                                puri,
                                occurredAt == null ? clock.instant() : occurredAt,
                                source == null ? DEFAULT_SOURCE : source,
                                change instanceof Change.Created ? null : uuid,
                                expectedEpoch,
                                change);
            } catch (IllegalArgumentException e) {
                // A field exceeds its bounds.
                mistakes.add(String.valueOf(e.getMessage()));
                return null;
            }
        }

        private @Nullable Change change(String type, @Nullable Puri puri, @Nullable UUID uuid) {
            return switch (type) {
                case "created" -> created(puri, uuid);
                case "moved" -> {
                    Owner owner = optional("owner", Owner::parse);
                    Shard shard = required("shard", Shard::parse);
                    yield shard == null ? null : new Change.Moved(owner, shard);
                }
                case "described" -> {
                    Map<String, String> attributes = attributes();
                    if (attributes == null) {
                        mistakes.add("attributes: missing");
                    }
                    yield attributes == null ? null : new Change.Described(attributes);
                }
                case "merged" -> {
                    Puri into = required("into", Puri::parse);
                    yield into == null ? null : new Change.Merged(into);
                }
                case "deleted" -> new Change.Deleted();
                case "erased" -> new Change.Erased();
                default -> throw new IllegalStateException("a type without a case: " + type);
            };
        }

        private Change.@Nullable Created created(@Nullable Puri puri, @Nullable UUID uuid) {
            Owner owner = required("owner", Owner::parse);
            Shard shard = required("shard", Shard::parse);
            Map<String, String> attributes = attributes();
            Handle handle = handle(puri);
            return owner == null || shard == null
                    ? null
                    : new Change.Created(
                            uuid == null ? minter.uuid() : uuid,
                            owner,
                            shard,
                            handle,
                            attributes == null ? Map.of() : attributes);
        }

        private @Nullable Handle handle(@Nullable Puri puri) {
            if (fields.containsKey("handle")) {
                return optional("handle", Handle::parse);
            }
            Collection collection = puri == null ? null : declarations.collectionOf(puri);
            Prefix prefix = collection == null ? null : collection.prefix();
            return prefix == null ? null : minter.handle(prefix);
        }

        /** Parses a mandatory field. Returns null and adds a mistake if it is absent or invalid. */
        private <T> @Nullable T required(String name, Function<String, T> parse) {
            if (fields.get(name) == null) {
                mistakes.add(name + ": missing");
                return null;
            }
            return optional(name, parse);
        }

        /** Parses a field. Returns null if it is absent, or if it is invalid and a mistake is added. */
        private <T> @Nullable T optional(String name, Function<String, T> parse) {
            Object value = fields.get(name);
            if (value == null) {
                return null;
            }
            if (!(value instanceof String text)) {
                mistakes.add(name + ": a text is expected, not " + description(value));
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
            mistakes.add("expectedEpoch: a whole number is expected, not " + description(value));
            return null;
        }

        /** Returns the valid attributes, or null if the field is absent. Adds a mistake for each invalid attribute. */
        private @Nullable Map<String, String> attributes() {
            Object value = fields.get("attributes");
            if (value == null) {
                return null;
            }
            if (!(value instanceof Members members)) {
                mistakes.add("attributes: an object of texts is expected, not " + description(value));
                return Map.of();
            }
            members.mistakes().forEach(mistake -> mistakes.add("attributes: " + mistake));
            return members.texts();
        }

        private static String description(Object value) {
            return switch (value) {
                case UnsupportedValue unsupported -> unsupported.description();
                case Long number -> "the number " + number;
                case Members members -> "an object";
                default -> "a text";
            };
        }

        /** Parses a uuid in its usual form. {@link UUID#fromString} alone would also accept {@code 1-1-1-1-1}. */
        private static UUID uuid(String text) {
            UUID uuid = text.length() == 36 ? UUID.fromString(text) : null;
            if (uuid == null || !uuid.toString().equalsIgnoreCase(text)) {
                throw new IllegalArgumentException(
                        "\"" + printable(text) + "\" is not a uuid such as 0197c3a2-5b1e-7c4d-8e9f-0a1b2c3d4e5f");
            }
            return uuid;
        }

        private static Instant instant(String text) {
            try {
                return OffsetDateTime.parse(text).toInstant();
            } catch (DateTimeException e) {
                throw new IllegalArgumentException(
                        "\"" + printable(text) + "\" is not a time with an offset such as 2026-11-20T09:30:00Z", e);
            }
        }
    }
}
