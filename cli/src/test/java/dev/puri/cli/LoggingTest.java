package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.slf4j.event.KeyValuePair;

class LoggingTest {
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";

    @Test
    void textLinesEndWithTheKeyValuePairs() throws Exception {
        assertThat(logged("TEXT", "said", new KeyValuePair("status", 200)))
                .matches("[0-9:.]+ INFO  Here said status=\"200\"\\R");
        assertThat(logged("TEXT", "said")).matches("[0-9:.]+ INFO  Here said\\R");
    }

    @Test
    void jsonHasOneObjectALine() throws Exception {
        String line = logged("JSON", "said \"it\"\n", new KeyValuePair("status", 200));

        assertThat(line).endsWith("\n").doesNotMatch("(?s).*\\n.+");
        JsonNode json = Json.parse(line);
        assertThat(json.path("formattedMessage").asText()).isEqualTo("said \"it\"\n");
        assertThat(json.path("level").asText()).isEqualTo("INFO");
        assertThat(json.path("loggerName").asText()).isEqualTo("dev.puri.Here");
        assertThat(json.path("timestamp").isNumber()).isTrue();
        assertThat(json.at("/kvpList/0/status").asText()).isEqualTo("200");
        assertThat(json.at("/mdc/traceId").asText()).isEqualTo(TRACE);
    }

    @Test
    void anUnknownFormatIsAMistake() {
        CommandLineRun run = CommandLineRun.of(Map.of("PURI_LOG_FORMAT", "xml"), "mint");

        assertThat(run.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(run.err()).contains("PURI_LOG_FORMAT: \"xml\" is neither text nor json");
    }

    private static String logged(String form, String message, KeyValuePair... pairs) throws Exception {
        LoggerContext context = new LoggerContext();
        context.putProperty("puri.log.format", form);
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(Objects.requireNonNull(LoggingTest.class.getResource("/logback.xml")));
        Logger logger = context.getLogger("dev.puri.Here");
        LoggingEvent event = new LoggingEvent("", logger, Level.INFO, message, null, null);
        event.setKeyValuePairs(List.of(pairs));
        event.setMDCPropertyMap(Map.of("traceId", TRACE));
        ConsoleAppender<ILoggingEvent> appender =
                (ConsoleAppender<ILoggingEvent>) context.getLogger(Logger.ROOT_LOGGER_NAME)
                        .iteratorForAppenders()
                        .next();
        return new String(appender.getEncoder().encode(event), StandardCharsets.UTF_8);
    }
}
