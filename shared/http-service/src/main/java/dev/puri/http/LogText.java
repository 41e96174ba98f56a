package dev.puri.http;

import org.jspecify.annotations.Nullable;

/**
 * Escapes and truncates untrusted text for logs. It escapes characters that could end a line or a field, control a
 * terminal or change the direction of text.
 */
final class LogText {
    private static final int MAX_CHARS = 200;

    private LogText() {}

    /** Returns the escaped text; empty for null. */
    static String escape(@Nullable String text) {
        if (text == null) {
            return "";
        }
        if (text.length() <= MAX_CHARS && isHarmless(text)) {
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

    private static boolean isHarmless(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (!isHarmless(text.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isHarmless(char c) {
        if (c < 0x7f) {
            // An unescaped backslash would look like an escape, and a quote would end a field.
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
