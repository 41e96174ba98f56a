package dev.puri.cli;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.pattern.CompositeConverter;

/**
 * Logback converter that escapes control characters, line breaks and direction marks in log messages, which may quote
 * records and requests. Escaping in the converter covers all log statements.
 */
public final class EscapedText extends CompositeConverter<ILoggingEvent> {
    /** Called by Logback; logback.xml names the class. */
    public EscapedText() {}

    @Override
    protected String transform(ILoggingEvent event, String text) {
        return escaped(text);
    }

    static String escaped(String text) {
        int first = 0;
        while (first < text.length() && isHarmless(text.charAt(first))) {
            first++;
        }
        if (first == text.length()) {
            return text;
        }
        StringBuilder escaped = new StringBuilder(text.length() + 16).append(text, 0, first);
        for (int i = first; i < text.length(); i++) {
            char c = text.charAt(i);
            if (isHarmless(c)) {
                escaped.append(c);
            } else {
                escaped.append(String.format("\\u%04x", (int) c));
            }
        }
        return escaped.toString();
    }

    private static boolean isHarmless(char c) {
        if (c < 0x7f) {
            return c >= ' ' || c == '\t';
        }
        return switch (Character.getType(c)) {
            case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }
}
