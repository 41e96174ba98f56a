package dev.puri.cli;

import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/** A JSON object that keeps the order of its members. */
final class JsonObject extends LinkedHashMap<String, Object> {
    private static final long serialVersionUID = 1L;

    /** Adds a member, unless its value is null. */
    JsonObject with(String name, @Nullable Object value) {
        if (value != null) {
            put(name, value);
        }
        return this;
    }
}
