package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.slf4j.event.KeyValuePair;

/** Tests the lines that logback.xml formats from messages that quote records and requests. */
final class EscapingConverterTest {
    private static final String HOSTILE = "a\nb\rc\u001b[31md\u0085e\u2028f\u009bg\u202eh\0";

    @Test
    void logMessagesCannotStartALineOrControlATerminal() throws Exception {
        LoggerContext context = new LoggerContext();
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(EscapingConverterTest.class.getResource("/logback.xml"));
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        ConsoleAppender<ILoggingEvent> text = (ConsoleAppender<ILoggingEvent>) root.getAppender("TEXT");
        IllegalStateException thrown =
                new IllegalStateException("thrown " + HOSTILE, new IllegalArgumentException("cause " + HOSTILE));
        thrown.addSuppressed(new IllegalArgumentException("suppressed " + HOSTILE));
        LoggingEvent event = new LoggingEvent(
                "x", root, Level.ERROR, "The header position of {} is none", thrown, new Object[] {HOSTILE});
        event.addKeyValuePair(new KeyValuePair("outcome", HOSTILE));

        String logged = new String(text.getEncoder().encode(event), StandardCharsets.UTF_8);

        assertThat(logged.lines().filter(line -> !line.matches("\\s*(at |\\.\\.\\. ).*")))
                .hasSize(4)
                .allMatch(
                        line -> line.contains("a\\u000ab\\u000dc\\u001b[31md\\u0085e\\u2028f\\u009bg\\u202eh\\u0000"));
        assertThat(logged.chars().filter(c -> c != '\n' && c != '\t' && (c < ' ' || c >= 0x7f && c < 0xa0)))
                .isEmpty();
        context.stop();
    }
}
