package dev.puri.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Formats JSON for people. Each member of the outer object has a line, and so has each object in a list.
 *
 * @param isColoured whether the text is coloured for terminals
 */
record PrettyJson(boolean isColoured) {
    private static final String NAME_COLOUR = "\033[36m";
    private static final String TEXT_COLOUR = "\033[32m";
    private static final String OTHER_COLOUR = "\033[33m";
    private static final String NO_COLOUR = "\033[0m";

    /** Returns the formatted text. */
    String print(JsonNode json) {
        return json.isObject() && !json.isEmpty()
                ? members(json, this::member).collect(Collectors.joining(",\n  ", "{\n  ", "\n}"))
                : inline(json);
    }

    /** Formats the value of a member of the outer object: a list that has objects with each element on its own line. */
    private String member(JsonNode json) {
        return json.isArray() && json.valueStream().anyMatch(JsonNode::isObject)
                ? json.valueStream().map(this::inline).collect(Collectors.joining(",\n    ", "[\n    ", "\n  ]"))
                : inline(json);
    }

    /** Formats a value without line breaks. */
    private String inline(JsonNode json) {
        if (json.isObject()) {
            return members(json, this::inline).collect(Collectors.joining(", ", "{", "}"));
        }
        if (json.isArray()) {
            return json.valueStream().map(this::inline).collect(Collectors.joining(", ", "[", "]"));
        }
        return coloured(json.isTextual() ? TEXT_COLOUR : OTHER_COLOUR, json.toString());
    }

    private Stream<String> members(JsonNode object, Function<JsonNode, String> format) {
        return object.properties().stream()
                .map(member ->
                        coloured(NAME_COLOUR, Json.toText(member.getKey())) + ": " + format.apply(member.getValue()));
    }

    private String coloured(String colour, String text) {
        return isColoured ? colour + text + NO_COLOUR : text;
    }
}
