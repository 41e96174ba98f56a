package dev.puri.client.resolve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.client.resolve.CacheStatistics.Feed;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ChangeFeedTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final String NAME = "music:tracks:1";

    private final FakeResolver resolver = new FakeResolver();
    private final ResolverClient client = ResolverClient.open(
            ResolverOptions.at(resolver.url())
                    .deadline(LONG)
                    .cacheSize(100)
                    .replicaLag(Duration.ZERO)
                    .feedSilence(LONG)
                    .build(),
            Duration.ofMillis(20));

    @AfterEach
    void stop() {
        client.close();
        resolver.close();
    }

    private static ConditionFactory eventually() {
        return await().atMost(LONG).pollInterval(Duration.ofMillis(10));
    }

    private void awaitFeed(Feed state) {
        eventually()
                .untilAsserted(() -> assertThat(client.cacheStatistics().feed())
                        .as(client.cacheStatistics()::toString)
                        .isEqualTo(state));
    }

    private void awaitChanges(long changes) {
        eventually().until(() -> client.cacheStatistics().changes() == changes);
    }

    /** Returns the number of look-ups that the resolver receives during one call. */
    private int requestsOf(String ref) {
        int before = resolver.asked.size();
        assertThat(client.resolve(ref)).isInstanceOf(Verdict.Found.class);
        return resolver.asked.size() - before;
    }

    @Test
    void theCacheAnswersWhileTheFeedIsCurrentUntilTheRowChanges() {
        FakeResolver.Stream stream = resolver.stream();
        assertThat(stream.lastEventId).isNull();
        assertThat(requestsOf(NAME)).as("before the feed").isEqualTo(1);
        stream.id(100, 1);
        awaitFeed(Feed.CURRENT);
        assertThat(requestsOf(NAME))
                .as("answers from before the feed are not cached")
                .isEqualTo(1);
        assertThat(requestsOf(NAME)).isZero();
        stream.changed(100, 2, "music:tracks:2", "active");
        awaitChanges(1);
        assertThat(requestsOf(NAME)).isZero();
        stream.changed(100, 3, NAME, "active");
        awaitChanges(2);
        assertThat(requestsOf(NAME)).isEqualTo(1);
        assertThat(requestsOf(NAME)).isZero();
        stream.tell("id: " + FakeResolver.id(100, 4) + "\nevent: erased\ndata: {\"puri\":\"" + NAME + "\"}\n\n");
        awaitChanges(3);
        assertThat(requestsOf(NAME)).isEqualTo(1);
    }

    @Test
    void doesNotCacheAnAnswerThatAChangeOvertook() throws Exception {
        FakeResolver.Stream stream = resolver.stream().id(100, 1);
        awaitFeed(Feed.CURRENT);
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        resolver.resolving((exchange, request) -> {
            asked.countDown();
            goOn.await(60, TimeUnit.SECONDS);
            resolver.answerFound(exchange, request);
        });
        var answer = client.resolveAsync(Ref.of(NAME), Duration.ZERO).toCompletableFuture();
        assertThat(asked.await(60, TimeUnit.SECONDS)).isTrue();
        stream.changed(100, 2, NAME, "active");
        awaitChanges(1);
        goOn.countDown();
        assertThat(answer.get(60, TimeUnit.SECONDS)).isInstanceOf(Verdict.Found.class);
        assertThat(client.cacheStatistics().notKept()).isEqualTo(1);
        assertThat(requestsOf(NAME)).isEqualTo(1);
        assertThat(requestsOf(NAME)).isZero();
    }

    @Test
    void doesNotCacheAnAnswerOfAStaleTable() {
        resolver.stream().id(100, 1);
        awaitFeed(Feed.CURRENT);
        resolver.resolving((exchange, request) -> {
            exchange.getResponseHeaders().add("Puri-Table-Lag", "7");
            resolver.answerFound(exchange, request);
        });
        assertThat(requestsOf(NAME)).isEqualTo(1);
        assertThat(requestsOf(NAME)).isEqualTo(1);
    }

    @Test
    void afterADisconnectCachedRowsAreUsedOnlyOnceTheFeedHasCaughtUp() {
        FakeResolver.Stream stream = resolver.stream().id(100, 1);
        awaitFeed(Feed.CURRENT);
        requestsOf(NAME);
        requestsOf("music:tracks:2");
        stream.changed(101, 2, "music:tracks:3", "active");
        awaitChanges(1);
        stream.end();
        awaitFeed(Feed.CONNECTING);
        assertThat(requestsOf(NAME)).as("without a feed").isEqualTo(1);

        FakeResolver.Stream again = resolver.stream();
        assertThat(again.lastEventId).isEqualTo(FakeResolver.id(101, 2));
        again.id(101, 2);
        awaitFeed(Feed.CATCHING_UP);
        again.changed(101, 3, "music:tracks:2", "active");
        awaitChanges(2);
        assertThat(client.cacheStatistics().feed()).isEqualTo(Feed.CATCHING_UP);
        assertThat(requestsOf(NAME)).as("before the feed has caught up").isEqualTo(1);
        again.id(102, 3);
        awaitFeed(Feed.CURRENT);
        assertThat(requestsOf(NAME)).as("cached during the disconnection").isZero();
        assertThat(requestsOf("music:tracks:2"))
                .as("changed during the disconnection")
                .isEqualTo(1);
        assertThat(client.cacheStatistics().resets()).isEqualTo(1);
    }

    @Test
    void aFeedThatCannotResumeEmptiesTheCache() {
        resolver.stream().id(100, 1).end();
        FakeResolver.Stream again = resolver.stream();
        again.id(100, 1).id(101, 1);
        awaitFeed(Feed.CURRENT);
        requestsOf(NAME);
        assertThat(requestsOf(NAME)).isZero();
        again.tell("id: " + FakeResolver.id(200, 9) + "\nevent: reset\ndata: {\"reason\":\"too-old\"}\n\n");
        eventually().until(() -> client.cacheStatistics().resets() == 2);
        awaitFeed(Feed.CURRENT);
        assertThat(requestsOf(NAME)).isEqualTo(1);
    }

    @Test
    void aRefusedIdEmptiesTheCache() {
        FakeResolver.Stream stream = resolver.stream().id(100, 1);
        awaitFeed(Feed.CURRENT);
        requestsOf(NAME);
        resolver.refuseStreams = 400;
        stream.end();
        eventually()
                .until(() -> String.valueOf(client.cacheStatistics().trouble()).startsWith("400"));
        resolver.refuseStreams = 0;
        FakeResolver.Stream again = resolver.stream();
        assertThat(again.lastEventId).isNull();
        again.id(100, 1);
        awaitFeed(Feed.CURRENT);
        assertThat(requestsOf(NAME)).isEqualTo(1);
    }

    @Test
    void aChangeThatCannotBeReadEmptiesTheCache() {
        FakeResolver.Stream stream = resolver.stream().id(100, 1);
        awaitFeed(Feed.CURRENT);
        requestsOf(NAME);
        stream.tell("id: " + FakeResolver.id(100, 2) + "\nevent: changed\ndata: {}\n\n");
        FakeResolver.Stream again = resolver.stream();
        assertThat(again.lastEventId).isNull();
        assertThat(client.cacheStatistics().trouble()).contains("the field puri is missing");
        again.id(100, 2);
        awaitFeed(Feed.CURRENT);
        assertThat(requestsOf(NAME)).isEqualTo(1);
    }

    @Test
    void theSecondsOfAnIdAreRead() {
        for (long seconds : new long[] {0, 1, 127, 128, 1_795_000_000L, Long.MAX_VALUE}) {
            assertThat(ChangeFeed.epochSeconds(FakeResolver.id(seconds, 5))).isEqualTo(seconds);
        }
    }
}
