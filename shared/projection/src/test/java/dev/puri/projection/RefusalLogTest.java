package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Erasure;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistryUnavailableException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RefusalLogTest {
    private static final Puri ONE = Puri.parse("music:tracks:1");
    private static final Puri TWO = Puri.parse("music:tracks:2");

    private static final Duration MAX_AGE = Duration.ofDays(1);

    private final AtomicReference<Instant> now = new AtomicReference<>(Written.TIME);
    private final InMemorySchemaRegistry registry = new InMemorySchemaRegistry();
    private final Written written = new Written(registry);
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final List<TopicFollower.Handler> handlers = new ArrayList<>();
    private final RefusalLog log = new RefusalLog(registry, 4, MAX_AGE, 2, now::get, meters, handler -> {
        handlers.add(handler);
        return new FakeFollower();
    });

    @Test
    void isFoundByPositionAndByPuriTheNewestFirst() {
        add(ONE, 10, 1);
        add(TWO, 11, 2);
        add(ONE, 12, 3);

        assertThat(log.find(Written.position(11))).isPresent().get().satisfies(refused -> {
            assertThat(refused.puri()).isEqualTo(TWO);
            assertThat(refused.reason()).isEqualTo("PURI_TAKEN");
            assertThat(refused.holder()).hasToString("Holder[owner=catalog, shard=br-2]");
        });
        assertThat(log.find(Written.position(13))).isEmpty();
        assertThat(offsets(log.latestOf(ONE, 10))).containsExactly(12L, 10L);
        assertThat(offsets(log.latestOf(ONE, 1))).containsExactly(12L);
        assertThat(offsets(log.latest(2))).containsExactly(12L, 11L);
        assertThat(log.latestOf(Puri.parse("music:tracks:3"), 10)).isEmpty();
    }

    @Test
    void answersTheTokenForItsPuri() {
        add(ONE, 10, 1);
        take(Written.rejection("A_LATER_ONE", ONE.toString(), 11, 2, "?"));

        assertThat(log.at(Written.position(10), ONE))
                .isEqualTo(new Refusal(
                        Reason.PURI_TAKEN,
                        "held by catalog",
                        new Refusal.Holder(new Owner("catalog"), new Shard("br-2")),
                        null));
        assertThat(log.at(Written.position(10), null)).isNotNull();
        assertThat(log.at(Written.position(10), TWO)).isNull();
        assertThat(log.at(Written.position(11), ONE)).isNull();
    }

    @Test
    void answersTheTokenOfAnInvalidKeyForAnyPuri() {
        take(Written.rejection("MALFORMED", null, 10, 1, "the record has no key"));

        assertThat(log.at(Written.position(10), ONE))
                .isNotNull()
                .extracting(Refusal::detail)
                .isEqualTo("the record has no key");
    }

    @Test
    void notifiesTheListenerOncePerRefusal() {
        List<Position> notified = new ArrayList<>();
        log.setListener(notified::add);

        add(ONE, 10, 1);
        add(ONE, 10, 1);
        add(TWO, 11, 2);

        assertThat(notified).containsExactly(Written.position(10), Written.position(11));
    }

    @Test
    void forgetsTheOldestByTimeInAnyOrderOfPartitions() {
        add(ONE, 10, 100);
        add(ONE, 11, 101);
        add(TWO, 20, 1);
        add(TWO, 21, 102);
        add(TWO, 22, 103);
        add(ONE, 12, 104);

        assertThat(offsets(log.latest(10))).containsExactly(12L, 22L, 21L, 11L);
        assertThat(log.find(Written.position(20))).isEmpty();
        assertThat(offsets(log.latestOf(ONE, 10))).containsExactly(12L, 11L);
        assertThat(offsets(log.latestOf(TWO, 10))).containsExactly(22L, 21L);
    }

    @Test
    void keepsARepeatedRecordOnce() {
        add(ONE, 10, 1);
        add(ONE, 10, 1);
        assertThat(log.latest(10)).hasSize(1);
        assertThat(log.latestOf(ONE, 10)).hasSize(1);

        handlers.getFirst().reset();
        assertThat(log.latest(10)).isEmpty();
        assertThat(log.latestOf(ONE, 10)).isEmpty();
    }

    @Test
    void forgetsTheRefusalsOfAnErasedPuri() {
        add(ONE, 10, 1);
        add(TWO, 20, 2);
        add(ONE, 11, 3);

        log.forgetErased(ONE, Written.TIME.plusSeconds(4));

        assertThat(log.latestOf(ONE, 10)).isEmpty();
        assertThat(log.find(Written.position(10))).isEmpty();
        assertThat(offsets(log.latest(10))).containsExactly(20L);
    }

    @Test
    void answersTheTokenOfAnErasedRefusalWithoutNames() {
        Refusal anonymized = Refusal.of(Reason.PURI_TAKEN, "an object that the event named has been erased since");
        add(ONE, 10, 1);
        log.forgetErased(ONE, Written.TIME.plusSeconds(3));
        CompletableFuture<@Nullable Refusal> waiting = awaited(11, Duration.ofMinutes(1));
        add(ONE, 11, 2);

        assertThat(log.at(Written.position(10), ONE)).isEqualTo(anonymized);
        assertThat(log.at(Written.position(11), ONE)).isEqualTo(anonymized);
        assertThat(waiting).isCompletedWithValue(anonymized);
        for (long later = 100; later < 110; later++) {
            add(ONE, later, 2);
        }
        assertThat(log.at(Written.position(10), ONE))
                .as("bounded as the others are")
                .isNull();
    }

    /** Refusals and erasures come from different topics, and all refusals come again when their topic is read again. */
    @Test
    void forgetsRefusalsThatAreReadAfterTheErasure() {
        log.forgetErased(ONE, Written.TIME.plusSeconds(3));
        handlers.getFirst().reset();

        add(ONE, 10, 1);
        add(ONE, 11, 2);

        assertThat(log.latest(10)).isEmpty();
    }

    /** If a snapshot is younger than the erasure, the table's reader does not report the erasure again. */
    @Test
    void anErasureIsReadFromTheTopicOfRefusalsToo() {
        add(ONE, 10, -3);
        List<Position> notified = new ArrayList<>();
        log.setListener(notified::add);

        takeErasure(ONE, 11, -1, Outcome.APPLIED);

        assertThat(log.latest(10)).isEmpty();
        assertThat(log.lastEventWithoutRow(ONE)).isEqualTo(Written.position(11));
        assertThat(log.lastEventWithoutRow(TWO)).isNull();
        assertThat(notified).containsExactly(Written.position(11));
        add(ONE, 9, -2);
        assertThat(log.latest(10)).isEmpty();
        handlers.getFirst().reset();
        assertThat(log.lastEventWithoutRow(ONE)).as("another topic's").isNull();
    }

    @Test
    void keepsRefusalsAfterAnUnchangedEventOfAMissingName() {
        takeErasure(ONE, 10, -3, Outcome.APPLIED);
        add(ONE, 11, -2);

        takeErasure(ONE, 12, -1, Outcome.UNCHANGED);

        assertThat(offsets(log.latestOf(ONE, 10))).containsExactly(11L);
        assertThat(log.lastEventWithoutRow(ONE)).isEqualTo(Written.position(12));
    }

    @Test
    void usesTheLatestErasureInAnyOrderOfTopics() {
        log.forgetErased(ONE, Written.TIME.plusSeconds(5));
        takeErasure(ONE, 11, 3, Outcome.APPLIED);

        add(ONE, 12, 4);
        add(ONE, 13, 6);

        assertThat(offsets(log.latestOf(ONE, 10))).containsExactly(13L);
    }

    /** The table may lag behind the refusals. A client whose event is reported as decided must not read the old row. */
    @Test
    void leavesErasuresSinceTheStartToTheTablesTopic() {
        takeErasure(ONE, 11, 1, Outcome.APPLIED);

        assertThat(log.lastEventWithoutRow(ONE)).isNull();
    }

    @Test
    void keepsRefusalsOfTheErasuresOwnMillisecond() {
        add(ONE, 10, 3);
        log.forgetErased(ONE, Written.TIME.plusSeconds(3));
        add(ONE, 11, 3);

        assertThat(offsets(log.latestOf(ONE, 10))).containsExactly(11L, 10L);
    }

    @Test
    void keepsRefusalsAfterAnErasure() {
        add(ONE, 10, 4);
        log.forgetErased(ONE, Written.TIME.plusSeconds(3));
        add(ONE, 11, 5);

        assertThat(offsets(log.latestOf(ONE, 10))).containsExactly(11L, 10L);
    }

    @Test
    void forgetsRefusalsThatNameAnErasedSurvivor() {
        Rejection merged = Written.rejection("MERGED", ONE.toString(), 10, 1, "it was merged into " + TWO);
        merged.setSurvivor(TWO.toString());
        take(merged);
        add(ONE, 11, 2);

        log.forgetErased(TWO, Written.TIME.plusSeconds(3));

        assertThat(offsets(log.latestOf(ONE, 10))).containsExactly(11L);
    }

    /** Returns the record as a consumer reads it; its timestamp is from the broker's clock. */
    private void takeErasure(Puri puri, long offset, int seconds, Outcome outcome) {
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>(
                Topics.REJECTIONS,
                0,
                0,
                Written.TIME.plusSeconds(seconds + 30).toEpochMilli(),
                TimestampType.LOG_APPEND_TIME,
                0,
                0,
                puri.toBytes(),
                null,
                new RecordHeaders(),
                Optional.empty());
        long at = Written.TIME.plusSeconds(seconds).toEpochMilli();
        record.headers()
                .add(Position.HEADER, Written.utf8(Written.position(offset).toString()))
                .add(Outcome.HEADER, Written.utf8(outcome.toString()))
                .add(Erasure.TIME_HEADER, Written.utf8(Long.toString(at)));
        handlers.getFirst().handle(record);
    }

    @Test
    void forgetsRefusalsThatAreTooOld() {
        add(ONE, 10, 0);
        add(ONE, 11, 60);

        now.set(Written.TIME.plus(MAX_AGE).plusSeconds(1));
        handlers.getFirst().tick();

        assertThat(offsets(log.latest(10))).containsExactly(11L);
        assertThat(offsets(log.latestOf(ONE, 10))).containsExactly(11L);
    }

    @Test
    void aLongDetailIsCutBetweenCharacters() {
        take(Written.rejection("HANDLE_TAKEN", null, 1, 1, "🎵".repeat(200)));

        RejectedEvent refused = log.latest(1).getFirst();
        assertThat(refused.detail()).hasSize(255).endsWith("🎵…");
        assertThat(refused.puri()).isNull();
    }

    @Test
    void completesAWaitWhenTheRefusalArrives() {
        CompletableFuture<@Nullable Refusal> first = awaited(10, Duration.ofMinutes(1));
        CompletableFuture<@Nullable Refusal> second = awaited(10, Duration.ofMinutes(1));
        add(TWO, 9, 1);
        assertThat(first).isNotDone();

        add(ONE, 10, 2);

        assertThat(first.join()).isNotNull();
        assertThat(second.join()).isNotNull();
        assertThat(awaited(10, Duration.ZERO).join()).isNotNull();
        assertThat(log.waitCount()).isZero();
    }

    @Test
    void removesAWaitAfterItsTimeout() {
        CompletableFuture<@Nullable Refusal> waiting = awaited(10, Duration.ofMillis(20));

        assertThat(waiting.join()).isNull();
        await().until(() -> log.waitCount() == 0);
    }

    @Test
    void limitsTheNumberOfWaits() {
        CompletableFuture<@Nullable Refusal> first = awaited(10, Duration.ofMinutes(1));
        CompletableFuture<@Nullable Refusal> second = awaited(11, Duration.ofMinutes(1));

        assertThat(awaited(12, Duration.ofMinutes(1)).join()).isNull();
        assertThat(List.of(first, second)).noneMatch(CompletableFuture::isDone);
        assertThat(log.waitCount()).isEqualTo(2);
    }

    @Test
    void reasonsAreCountedUnderKnownNamesOnly() {
        add(ONE, 1, 1);
        add(ONE, 2, -1);
        take(Written.rejection("A_LATER_ONE", null, 3, 2, "?"));

        assertThat(counted("PURI_TAKEN")).isOne();
        assertThat(counted("OTHER")).isOne();
        assertThat(log.latest(1).getFirst().reason()).isEqualTo("A_LATER_ONE");
    }

    @Test
    void skipsInvalidRecords() {
        handlers.getFirst().handle(Written.read(Topics.REJECTIONS, Written.utf8("a:b:c"), Written.utf8("no avro")));
        handlers.getFirst().handle(Written.read(Topics.REJECTIONS, Written.utf8("a:b:c"), null));
        add(ONE, 1, 1);

        assertThat(log.latest(10)).hasSize(1);
    }

    @Test
    void aRefusalIsNotSkippedWhileTheSchemaRegistryIsUnavailable() {
        registry.setAway(true);
        assertThatThrownBy(() -> add(ONE, 10, 1)).isInstanceOf(SchemaRegistryUnavailableException.class);

        registry.setAway(false);
        add(ONE, 10, 1);

        assertThat(offsets(log.latest(10))).containsExactly(10L);
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "music:tracks, -, -, puri, segments",
                "-, 3-, -, position, token",
                "-, -, 0, limit, 1000",
                "-, -, 1001, limit, 1000",
                "-, -, +5, limit, not \"+5\"",
                "-, -, 99999999999, limit, 1000"
            })
    void wrongParametersAreNamed(String puri, String position, String limit, String parameter, String says) {
        assertThatThrownBy(() -> RejectionsQuery.parse(puri, position, limit))
                .isInstanceOfSatisfying(
                        RejectionsQuery.InvalidParameterException.class,
                        e -> assertThat(e.parameter()).isEqualTo(parameter))
                .hasMessageContaining(says);
    }

    @Test
    void theQueryFindsByPuriAndPosition() {
        add(ONE, 10, 1);
        add(TWO, 11, 2);

        assertThat(offsets(find(null, null, null))).containsExactly(11L, 10L);
        assertThat(offsets(find(null, null, "1"))).containsExactly(11L);
        assertThat(offsets(find("Music:Tracks:1", null, null))).containsExactly(10L);
        assertThat(offsets(find(null, "1-11", null))).containsExactly(11L);
        assertThat(offsets(find("music:tracks:2", "1-11", null))).containsExactly(11L);
        assertThat(find("music:tracks:1", "1-11", null)).isEmpty();
    }

    @Test
    void theResponseIsJson() throws Exception {
        add(ONE, 10, 1);
        StringWriter text = new StringWriter();
        try (JsonGenerator json = JsonFactory.builder().build().createGenerator(text)) {
            RejectionsQuery.write(json, log.latest(1), true);
        }
        assertThat(text)
                .hasToString("{\"rejections\":[{\"rejectedAt\":\"2026-03-01T10:00:01.000Z\",\"position\":\"1-10\","
                        + "\"puri\":\"music:tracks:1\",\"eventId\":\"01970000-0000-7000-8000-000000000001\","
                        + "\"reason\":\"PURI_TAKEN\",\"detail\":\"held by catalog\","
                        + "\"holder\":{\"owner\":\"catalog\",\"shard\":\"br-2\"}}],\"complete\":true}");
    }

    private List<RejectedEvent> find(String puri, String position, String limit) {
        return RejectionsQuery.parse(puri, position, limit).find(log);
    }

    private CompletableFuture<@Nullable Refusal> awaited(long offset, Duration atMost) {
        return log.awaitAt(Written.position(offset), atMost).toCompletableFuture();
    }

    @Test
    void refusalsThatAreReadAgainAreNotCountedAgain() {
        add(ONE, 10, 1);
        now.set(Written.TIME.plusSeconds(60));

        handlers.get(0).reset();
        add(ONE, 10, 1);
        add(TWO, 11, 61);

        assertThat(counted("PURI_TAKEN")).isEqualTo(2);
    }

    @Test
    void aRefusalFromBetweenTheStartAndTheFirstReadIsCounted() {
        now.set(Written.TIME.plusSeconds(60));
        handlers.get(0).reset();

        add(ONE, 10, 1);

        assertThat(counted("PURI_TAKEN")).isOne();
    }

    private double counted(String reason) {
        return meters.get("puri.rejections").tag("reason", reason).counter().count();
    }

    private void add(Puri puri, long offset, int seconds) {
        take(Written.taken(puri.toString(), offset, seconds));
    }

    private void take(Rejection rejection) {
        handlers.getFirst().handle(Written.read(written.record(rejection)));
    }

    private static List<Long> offsets(List<RejectedEvent> refusals) {
        return refusals.stream().map(refused -> refused.position().offset()).toList();
    }
}
