package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.projection.wait.Tokens;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.testkit.HangingTransaction;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/** A resolver whose brokers, schema registry or reading thread fail. */
final class ResolverOutageIT extends ResolverOnBroker {
    /** Names in the partition of {@code TRACK}. */
    private static final List<String> OTHERS = List.of("a:b:a", "a:b:g", "a:b:j");

    @Test
    void aTableThatMissedDeletedRecordsAnswersButIsNotReplacedByOneThatLacksRows() throws Exception {
        write(record(TRACK, avro(Rows.active("br-1"))));
        startReady();
        // While the reader waits for a schema, its next records are deleted.
        registry.stop();
        write(record(OTHERS.get(0), WRITER.encode(otherSchemaId, RowAvro.toAvro(Rows.active("br-1")))));
        try {
            awaitUnready("waiting for the schema registry");
            write(record(OTHERS.get(1), avro(Rows.active("br-1"))));
            write(record(OTHERS.get(2), avro(Rows.active("br-1"))));
            TopicPartition partition =
                    new TopicPartition(Topics.IDENTITIES, Tokens.partition(Puri.parse(TRACK), PARTITIONS));
            admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(-1)))
                    .all()
                    .get();
            assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
        } finally {
            registry.start();
        }
        write(record(TRACK, avro(Rows.active("br-2"))));

        awaitUnready("were deleted, so the topic lacks rows");
        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
        assertThat(send("/metrics").body()).contains("puri_table_ready 0.0");
    }

    @Test
    void unreachableBrokersMakeTheServerUnreadyWhileTheTableAnswers() {
        write(row(TRACK, Rows.active("br-1")));
        startReady();

        assertThat(lag()).isEmpty();
        broker.stop();
        try {
            awaitUnready("no broker answers");
            assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
            await().atMost(Duration.ofSeconds(30)).until(() -> lag().isPresent());
            assertThat(Integer.parseInt(lag().orElseThrow())).isBetween(5, 60);
        } finally {
            broker.start();
        }

        awaitReady();
        await().atMost(Duration.ofSeconds(30)).until(() -> lag().isEmpty());
        write(row(TRACK, Rows.active("br-2")));
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(
                        () -> assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-2"));
        assertThat(send("/metrics").body()).contains("puri_table_rebuilds_total 0.0");
    }

    @Test
    void aTransactionThatHangsMakesItUnreadyAndIsNamedUntilItIsAborted() {
        write(row(TRACK, Rows.active("br-1")));
        startReady();
        HangingTransaction left = HangingTransaction.leave(
                broker.bootstrapServers(), new TopicPartition(Topics.IDENTITIES, 2), "puri-registry-left");

        await().atMost(Duration.ofSeconds(60)).until(() -> !requireResolver().isReady());
        assertThat(json("/health/ready").at("/checks/0/data/reason").asText())
                .contains("puri.identities.v1-2 cannot be read beyond offset")
                .contains("transactional id puri-registry-left");
        assertThat(json("/health/ready").at("/checks/1/data/hanging/0/action").asText())
                .contains("kafka-transactions.sh abort --topic puri.identities.v1 --partition 2");
        assertThat(get(TRACK).at("/verdict").asText()).isEqualTo("found");

        left.abort();

        awaitReady();
        assertThat(send("/metrics").body()).contains("puri_transactions_hanging 0.0");
    }

    @Test
    void waitsForAnUnreachableSchemaRegistry() {
        write(row(TRACK, Rows.active("br-1")));
        registry.stop();
        try {
            start();
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(
                            () -> assertThat(send("/health/ready").body()).contains("waiting for the schema registry"));
            assertThat(send("/v1/identities/" + TRACK).statusCode()).isEqualTo(503);
        } finally {
            registry.start();
        }

        awaitReady();
        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
        assertThat(send("/metrics").body()).contains("puri_table_undecodable_total 0.0");
    }

    @Test
    void closingDoesNotWaitForAnUnreachableSchemaRegistry() {
        write(row(TRACK, Rows.active("br-1")));
        registry.stop();
        try {
            start();
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(
                            () -> assertThat(send("/health/ready").body()).contains("waiting for the schema registry"));
            long begun = System.nanoTime();
            requireResolver().close();
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(15));
        } finally {
            registry.start();
        }
    }
}
