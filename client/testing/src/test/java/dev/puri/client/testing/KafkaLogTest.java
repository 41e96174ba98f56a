package dev.puri.client.testing;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.puri.client.IdentityPublisher;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** docs/testing.md names the logger that prints the configuration of Kafka's clients. */
class KafkaLogTest {
    private static final Pattern LOGGER = Pattern.compile("<logger name=\"([a-z.]+)\" level=\"([A-Z]+)\"/>");
    private static final String CONFIGURATION = "Config values";

    @Test
    void theLevelOfTheDocumentationKeepsConfigurationsOutOfTheLog() throws Exception {
        Matcher documented = LOGGER.matcher(Files.readString(Path.of("../../docs/testing.md")));
        assertThat(documented.find()).isTrue();
        Logger logger = (Logger) LoggerFactory.getLogger(documented.group(1));

        assertThat(messages(logger, Level.INFO)).anyMatch(message -> message.contains(CONFIGURATION));
        assertThat(messages(logger, Level.valueOf(documented.group(2))))
                .noneMatch(message -> message.contains(CONFIGURATION));
    }

    /** The messages of a publisher and an administrator that are opened and closed. */
    private static List<String> messages(Logger logger, Level level) {
        Level before = logger.getLevel();
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.setAdditive(false);
        logger.addAppender(log);
        logger.setLevel(level);
        try {
            new IdentityPublisher(
                            Map.of("bootstrap.servers", "127.0.0.1:1", "schema.registry.url", "http://127.0.0.1:1"))
                    .close();
            Admin.create(Map.of("bootstrap.servers", "127.0.0.1:1")).close();
        } finally {
            logger.setLevel(before);
            logger.detachAppender(log);
            logger.setAdditive(true);
            log.stop();
        }
        return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }
}
