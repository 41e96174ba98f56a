package dev.puri.cli;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.pattern.CompositeConverter;

/**
 * The part of a log line that says what happened, on one line: controls, line breaks and marks of direction stand as
 * their escapes. Log statements quote records and requests; here, where all of them pass, none is forgotten.
 */
public final class EscapedText extends CompositeConverter<ILoggingEvent> {
    /** Made by Logback, which finds it by its name in logback.xml. */
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
