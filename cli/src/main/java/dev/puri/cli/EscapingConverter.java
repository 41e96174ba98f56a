package dev.puri.cli;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.pattern.CompositeConverter;
import java.util.regex.Pattern;

/**
 * Logback converter that escapes control characters, line breaks and direction marks in log messages. Such characters
 * come from quoted records and requests. Because the converter escapes them, log statements need not.
 */
public final class EscapingConverter extends CompositeConverter<ILoggingEvent> {
    /** Control and format characters except the tab, and separators of lines and paragraphs. */
    private static final Pattern HARMFUL = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}&&[^\\t]]");

    /** Called by Logback, whose configuration names this class. */
    public EscapingConverter() {}

    @Override
    protected String transform(ILoggingEvent event, String text) {
        return escaped(text);
    }

    static String escaped(String text) {
        return HARMFUL.matcher(text)
                .replaceAll(
                        harmful -> String.format("\\\\u%04x", harmful.group().codePointAt(0)));
    }
}
