package dev.puri.http;

import org.jspecify.annotations.Nullable;

/**
 * Text from outside as a log may show it: on one line, in its order, and not too long. Whatever could end
 * a line or a field, drive a terminal or turn the direction of writing stands as its escape.
 */
final class LogText {
    private static final int MAX_CHARS = 200;

    private LogText() {}

    static String of(@Nullable String text) {
        if (text == null) {
            return "";
        }
        if (text.length() <= MAX_CHARS && isPlain(text)) {
            return text;
        }
        StringBuilder escaped = new StringBuilder(MAX_CHARS + 16);
        for (int i = 0; i < text.length(); i++) {
            if (escaped.length() >= MAX_CHARS) {
                return escaped.append("…(").append(text.length()).append(')').toString();
            }
            char c = text.charAt(i);
            if (isHarmless(c)) {
                escaped.append(c);
            } else {
                escaped.append(String.format("\\u%04x", (int) c));
            }
        }
        return escaped.toString();
    }

    private static boolean isPlain(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (!isHarmless(text.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isHarmless(char c) {
        if (c < 0x7f) {
            // A backslash would let text look like an escape of ours, and a quote would end a field.
            return c >= 0x20 && c != '\\' && c != '"';
        }
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED -> false;
            default -> true;
        };
    }
}
