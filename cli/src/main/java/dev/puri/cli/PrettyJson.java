package dev.puri.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Iterator;
import java.util.Map;

/** Prints JSON for people: one member per line, and one line per object in a list; optionally coloured. */
final class PrettyJson {
    private static final String NAME = "\033[36m";
    private static final String TEXT = "\033[32m";
    private static final String OTHER = "\033[33m";
    private static final String PLAIN = "\033[0m";

    private final boolean coloured;
    private final StringBuilder out = new StringBuilder();

    PrettyJson(boolean coloured) {
        this.coloured = coloured;
    }

    String print(JsonNode json) {
        out.setLength(0);
        members(json, "  ");
        return out.toString();
    }

    private void members(JsonNode object, String indent) {
        if (!object.isObject() || object.isEmpty()) {
            inline(object);
            return;
        }
        out.append('{');
        String separator = "\n";
        for (Map.Entry<String, JsonNode> member : object.properties()) {
            out.append(separator).append(indent);
            separator = ",\n";
            name(member.getKey());
            if (member.getValue().isArray() && containsObjects(member.getValue())) {
                lines(member.getValue(), indent + "  ");
            } else {
                inline(member.getValue());
            }
        }
        out.append('\n').append(indent, 0, indent.length() - 2).append('}');
    }

    private static boolean containsObjects(JsonNode list) {
        for (JsonNode each : list) {
            if (each.isObject()) {
                return true;
            }
        }
        return false;
    }

    private void lines(JsonNode list, String indent) {
        out.append('[');
        String separator = "\n";
        for (JsonNode each : list) {
            out.append(separator).append(indent);
            separator = ",\n";
            inline(each);
        }
        out.append('\n').append(indent, 0, indent.length() - 2).append(']');
    }

    private void inline(JsonNode json) {
        if (json.isObject()) {
            out.append('{');
            for (Iterator<Map.Entry<String, JsonNode>> i = json.properties().iterator(); i.hasNext(); ) {
                Map.Entry<String, JsonNode> member = i.next();
                name(member.getKey());
                inline(member.getValue());
                out.append(i.hasNext() ? ", " : "");
            }
            out.append('}');
        } else if (json.isArray()) {
            out.append('[');
            for (Iterator<JsonNode> i = json.iterator(); i.hasNext(); ) {
                inline(i.next());
                out.append(i.hasNext() ? ", " : "");
            }
            out.append(']');
        } else {
            coloured(json.isTextual() ? TEXT : OTHER, json.toString());
        }
    }

    private void name(String name) {
        coloured(NAME, Json.print(name));
        out.append(": ");
    }

    private void coloured(String colour, String text) {
        if (coloured) {
            out.append(colour).append(text).append(PLAIN);
        } else {
            out.append(text);
        }
    }
}
