package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.projection.wait.Tokens;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

/** A resolver that reads its topic: existing and later records, recreated topics, new partitions, restarts. */
final class ResolverIT extends ResolverOnBroker {
    @Test
    void answersFromExistingAndLaterRecords() {
        write(row(TRACK, Rows.active("br-1", HANDLE)), row("soundcloud:tracks:2", Rows.active("br-2")));
        startReady();

        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
        assertThat(get(HANDLE).at("/puri").asText()).isEqualTo(TRACK);
        assertThat(get("soundcloud:tracks:3").at("/verdict").asText()).isEqualTo("unknown");
        CompletableFuture<HttpResponse<String>> changes = CONTRACT.sendAsync(request("/v1/changes"));
        await().untilAsserted(() -> assertThat(send("/metrics").body()).contains("puri_changes_streams 1.0"));

        write(row("soundcloud:tracks:3", Rows.active("br-3")), tombstone("soundcloud:tracks:2"));

        awaitVerdict("soundcloud:tracks:3", "found");
        awaitVerdict("soundcloud:tracks:2", "unknown");
        await().untilAsserted(() -> assertThat(send("/metrics").body()).contains("puri_changes_sent_total 2.0"));
        requireResolver().close();
        assertThat(changes.join().body())
                .contains("event: changed\ndata: {\"puri\":\"soundcloud:tracks:3\"")
                .contains("event: erased\ndata: {\"puri\":\"soundcloud:tracks:2\"}");
    }

    @Test
    void answersNothingBeforeTheTableIsComplete() throws Exception {
        deleteTopicIfThere();
        start();

        HttpResponse<String> early = send("/v1/identities/" + TRACK);
        assertThat(early.statusCode()).isEqualTo(503);
        assertThat(early.headers().firstValue("Retry-After")).contains("1");
        assertThat(early.body()).contains("https://puri.dev/problems/not-ready");
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() ->
                        assertThat(send("/health/ready").body()).contains("there is no topic puri.identities.v1 yet"));
        assertThat(send("/health/started").statusCode()).isEqualTo(503);
        assertThat(send("/health/live").statusCode()).isEqualTo(200);

        createTopic();
        write(row(TRACK, Rows.active("br-1")));

        awaitReady();
        awaitVerdict(TRACK, "found");
        assertThat(send("/health/started").statusCode()).isEqualTo(200);
    }

    @Test
    void isReadyOnAnEmptyTopic() {
        startReady();

        assertThat(get(TRACK).at("/verdict").asText()).isEqualTo("unknown");
        assertThat(json("/health/ready").at("/checks/0/data/behind").asLong(-1)).isZero();
    }

    @Test
    void abortedRowsAreInvisibleAndMarkersAreNotLag() {
        write(row(TRACK, Rows.active("br-1")));
        producer.beginTransaction();
        producer.send(row(TRACK, Rows.active("br-9")));
        producer.flush();
        producer.abortTransaction();
        startReady();

        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
        JsonNode ready = json("/health/ready").at("/checks/0/data");
        assertThat(ready.at("/behind").asLong(-1)).isZero();
        assertThat(ready.at("/end").asLong()).isEqualTo(4);

        write(row("soundcloud:tracks:2", Rows.active("br-1")));
        awaitVerdict("soundcloud:tracks:2", "found");
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(json("/health/ready")
                                .at("/checks/0/data/reached")
                                .asLong())
                        .isEqualTo(6));
    }

    @Test
    void recordsThatDoNotDecodeAreCountedAndKeptOut() {
        write(
                row(TRACK, Rows.active("br-1")),
                new ProducerRecord<>(Topics.IDENTITIES, bytes(TRACK), bytes("no avro")),
                new ProducerRecord<>(Topics.IDENTITIES, bytes("not a pURI"), null),
                new ProducerRecord<>(Topics.IDENTITIES, bytes("SoundCloud:tracks:1"), avro(Rows.active("br-9"))),
                new ProducerRecord<>(Topics.IDENTITIES, bytes("a:b:c"), new byte[] {0, 0x7f, 0, 0, 0, 1, 2}),
                new ProducerRecord<>(Topics.IDENTITIES, new byte[] {(byte) 0xff}, avro(Rows.active("br-9"))));
        startReady();
        write(
                new ProducerRecord<>(Topics.IDENTITIES, bytes(TRACK), bytes("no avro")),
                row("soundcloud:tracks:2", Rows.active("br-2")));

        awaitVerdict("soundcloud:tracks:2", "found");
        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(send("/metrics").body()).contains("puri_table_undecodable_total 6.0"));
        assertThat(send("/health/ready").statusCode()).isEqualTo(200);
    }

    @Test
    void aRestartFindsTheSameTable() {
        write(row(TRACK, Rows.active("br-1", HANDLE)));
        startReady();
        write(row(TRACK, Rows.active("br-2", HANDLE)), row("a:b:c", Rows.active("br-1")), tombstone("a:b:c"));
        awaitVerdict(TRACK, "found");
        requireResolver().close();

        startReady();

        assertThat(get(HANDLE).at("/shard").asText()).isEqualTo("br-2");
        assertThat(get("a:b:c").at("/verdict").asText()).isEqualTo("unknown");
        assertThat(send("/metrics").body()).contains("puri_table_rows 1.0");
    }

    @Test
    void refillsFromARecreatedTopicWhileTheOldTableServes() throws Exception {
        write(row(TRACK, Rows.active("br-1")), row("a:b:old", Rows.active("br-1")));
        startReady();

        deleteTopicIfThere();
        createTopic();
        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
        write(row(TRACK, Rows.active("br-2")));
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() ->
                        assertThat(send("/health/ready").body()).contains("has 1 rows, and the serving table has 2"));
        assertThat(get("a:b:old").at("/verdict").asText()).isEqualTo("found");
        write(row("a:b:new", Rows.active("br-1")));

        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(
                        () -> assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-2"));
        awaitReady();
        assertThat(get("a:b:old").at("/verdict").asText()).isEqualTo("unknown");
        assertThat(send("/metrics").body()).contains("puri_table_rebuilds_total 1.0");
    }

    @Test
    void newPartitionsAreReadTooAndRowsInTheirOldPartitionsAreKept() throws Exception {
        ProducerRecord<byte[], byte[]> moved = row("a:b:c", Rows.active("br-1"));
        moved.headers().add(Position.HEADER, bytes("0-7")).add(Outcome.HEADER, bytes(Outcome.APPLIED.toString()));
        assertThat(Tokens.partition(Puri.parse("a:b:c"), PARTITIONS + 1))
                .isNotEqualTo(Tokens.partition(Puri.parse("a:b:c"), PARTITIONS));
        write(row(TRACK, Rows.active("br-1")), moved);
        startReady();

        admin.createPartitions(Map.of(Topics.IDENTITIES, NewPartitions.increaseTo(PARTITIONS + 1)))
                .all()
                .get();
        // The last of four partitions is that of this name.
        write(new ProducerRecord<>(Topics.IDENTITIES, PARTITIONS, bytes("a:b:b"), avro(Rows.active("br-7"))));

        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(
                        () -> assertThat(get("a:b:b").at("/shard").asText()).isEqualTo("br-7"));
        assertThat(get("a:b:c").at("/shard").asText()).isEqualTo("br-1");
    }

    @Test
    void twoResolversLiveInOneJvm() {
        write(row(TRACK, Rows.active("br-1")));
        startReady();
        try (Resolver second = Resolver.start(settings())) {
            await().atMost(Duration.ofSeconds(30)).until(second::isReady);
            assertThat(second.port()).isNotEqualTo(requireResolver().port());
        }
        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
    }
}
