package dev.puri.cli;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.pattern.CompositeConverter;

/**
 * Logback converter that escapes control characters, line breaks and direction marks in log messages. Such characters
 * come from quoted records and requests. Because the converter escapes them, log statements need not.
 */
public final class EscapingConverter extends CompositeConverter<ILoggingEvent> {
    /** Called by Logback, whose configuration names this class. */
    public EscapingConverter() {}

    @Override
    protected String transform(ILoggingEvent event, String text) {
        return escaped(text);
    }

    static String escaped(String text) {
        int harmlessLength = 0;
        while (harmlessLength < text.length() && isHarmless(text.charAt(harmlessLength))) {
            harmlessLength++;
        }
        if (harmlessLength == text.length()) {
            return text;
        }
        StringBuilder escaped = new StringBuilder(text.length() + 16).append(text, 0, harmlessLength);
        for (int i = harmlessLength; i < text.length(); i++) {
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
