package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class SkippedRecordsTest {
    private final SkippedRecords skipped = new SkippedRecords();
    private final Logger logger = (Logger) LoggerFactory.getLogger(SkippedRecords.class);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    private record Metadata(String topic, int partition, long offset) implements RecordMetadata {}

    @BeforeEach
    void startLog() {
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void stopLog() {
        logger.detachAppender(log);
    }

    @Test
    void countsByTopicAndLogsTheFirstRecordOfEachPartition() {
        skipped.skip(new Metadata("grants", 0, 5), "no value");
        skipped.skip(new Metadata("grants", 0, 6), "no value");
        skipped.skip(new Metadata("grants", 1, 7), "no value");
        skipped.skip(new Metadata("claims", 0, 8), "no key");

        assertThat(skipped.count("grants")).isEqualTo(3);
        assertThat(skipped.count("claims")).isEqualTo(1);
        assertThat(skipped.count("collections")).isZero();
        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .satisfiesExactly(
                        first -> assertThat(first)
                                .startsWith(
                                        "Skipped a record of grants that cannot be decoded, partition 0 offset 5: no"
                                                + " value."),
                        second -> assertThat(second).contains("grants").contains("partition 1 offset 7"),
                        third -> assertThat(third).contains("claims").contains("partition 0 offset 8"));
    }

    @Test
    void truncatesALongReasonInTheLog() {
        skipped.skip(new Metadata("grants", 0, 5), "x".repeat(301));

        assertThat(log.list)
                .singleElement()
                .extracting(ILoggingEvent::getFormattedMessage)
                .asString()
                .contains(": " + "x".repeat(300) + "…. ");
    }
}
