package dev.puri.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Iterator;
import java.util.Map;

/**
 * Formats JSON for people. Each member of the outer object has a line, and so has each object in a list. The text may
 * be coloured for terminals.
 */
final class PrettyJson {
    private static final String NAME_COLOUR = "\033[36m";
    private static final String TEXT_COLOUR = "\033[32m";
    private static final String OTHER_COLOUR = "\033[33m";
    private static final String NO_COLOUR = "\033[0m";

    private final boolean isColoured;
    private final StringBuilder out = new StringBuilder();

    PrettyJson(boolean isColoured) {
        this.isColoured = isColoured;
    }

    /** Returns the formatted text. */
    String print(JsonNode json) {
        out.setLength(0);
        appendMembers(json, "  ");
        return out.toString();
    }

    /** Appends an object with each member on its own line. */
    private void appendMembers(JsonNode object, String indent) {
        if (!object.isObject() || object.isEmpty()) {
            appendInline(object);
            return;
        }
        out.append('{');
        String separator = "\n";
        for (Map.Entry<String, JsonNode> member : object.properties()) {
            out.append(separator).append(indent);
            separator = ",\n";
            appendName(member.getKey());
            if (member.getValue().isArray() && containsObjects(member.getValue())) {
                appendLines(member.getValue(), indent + "  ");
            } else {
                appendInline(member.getValue());
            }
        }
        out.append('\n').append(indent, 0, indent.length() - 2).append('}');
    }

    private static boolean containsObjects(JsonNode list) {
        for (JsonNode element : list) {
            if (element.isObject()) {
                return true;
            }
        }
        return false;
    }

    /** Appends a list with each element on its own line. */
    private void appendLines(JsonNode list, String indent) {
        out.append('[');
        String separator = "\n";
        for (JsonNode element : list) {
            out.append(separator).append(indent);
            separator = ",\n";
            appendInline(element);
        }
        out.append('\n').append(indent, 0, indent.length() - 2).append(']');
    }

    /** Appends a value on the current line. */
    private void appendInline(JsonNode json) {
        if (json.isObject()) {
            out.append('{');
            for (Iterator<Map.Entry<String, JsonNode>> i = json.properties().iterator(); i.hasNext(); ) {
                Map.Entry<String, JsonNode> member = i.next();
                appendName(member.getKey());
                appendInline(member.getValue());
                out.append(i.hasNext() ? ", " : "");
            }
            out.append('}');
        } else if (json.isArray()) {
            out.append('[');
            for (Iterator<JsonNode> i = json.iterator(); i.hasNext(); ) {
                appendInline(i.next());
                out.append(i.hasNext() ? ", " : "");
            }
            out.append(']');
        } else {
            appendColoured(json.isTextual() ? TEXT_COLOUR : OTHER_COLOUR, json.toString());
        }
    }

    private void appendName(String name) {
        appendColoured(NAME_COLOUR, Json.toText(name));
        out.append(": ");
    }

    private void appendColoured(String colour, String text) {
        if (isColoured) {
            out.append(colour).append(text).append(NO_COLOUR);
        } else {
            out.append(text);
        }
    }
}
