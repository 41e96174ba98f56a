package dev.puri.client.resolve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.client.resolve.CacheStatistics.Feed;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A feed without a network, with a clock that the test advances. */
class ChangeFeedTransitionsTest {
    private static final Puri NAME = Puri.parse("m:t:1");
    private static final Duration SILENCE = Duration.ofSeconds(45);

    private final FakeHttpClient http = new FakeHttpClient();
    private final TestTimer timer = new TestTimer();
    private final RowCache cache = new RowCache(100, Duration.ZERO, timer::nanos);
    private final ChangeFeed feed = feed();

    private ChangeFeed feed() {
        ResolverOptions options = ResolverOptions.at("http://a")
                .cacheSize(100)
                .replicaLag(Duration.ZERO)
                .feedSilence(SILENCE)
                .build();
        return new ChangeFeed(
                http,
                options,
                new Addresses(options.addresses(), timer::nanos),
                timer,
                timer::nanos,
                cache,
                ChangeFeed.MIN_RETRY_DELAY);
    }

    @AfterEach
    void stop() {
        feed.close();
        timer.close();
    }

    /** The last connection, once it is answered. */
    private FakeHttpClient.Open<?> connected() {
        return http.exchanges.get(http.exchanges.size() - 1).open();
    }

    private void keep() {
        timer.pass(Duration.ofNanos(1));
        Placement placement = new Placement(new Owner("catalog"), new Shard("br-1"), new UUID(7, 1));
        cache.put(
                Ref.of(NAME), new Verdict.Found(NAME, null, placement, 1, Instant.EPOCH, Instant.EPOCH), timer.nanos());
        assertThat(cache.get(Ref.of(NAME))).isNotNull();
    }

    private static String id(long seconds, long offset) {
        return "id: " + FakeResolver.id(seconds, offset) + "\n\n";
    }

    private Feed state() {
        return feed.statistics().feed();
    }

    @Test
    void aThrowWhileConnectingIsAFailedConnection() {
        http.refusal = new IllegalStateException("no sockets");
        feed.connect();
        assertThat(state()).isEqualTo(Feed.CONNECTING);
        assertThat(feed.statistics().trouble()).contains("no sockets");
        http.refusal = null;
        timer.pass(Duration.ofSeconds(2));
        connected().tell(id(100, 1));
        assertThat(state()).isEqualTo(Feed.CURRENT);
    }

    /** A resolver that cannot reach its brokers keeps the connection, and has no new ids. */
    @Test
    void afterASilenceTheCacheIsNotUsedUntilTheFeedAdvances() {
        feed.connect();
        connected().tell(id(100, 1));
        keep();
        timer.pass(SILENCE.minusMillis(1));
        assertThat(cache.get(Ref.of(NAME))).isNotNull();

        timer.pass(Duration.ofMillis(1));

        assertThat(state()).isEqualTo(Feed.CONNECTING);
        assertThat(cache.get(Ref.of(NAME))).isNull();
        assertThat(http.exchanges.get(0).end()).isCancelled();

        timer.pass(Duration.ofSeconds(2));
        assertThat(http.exchanges.get(1).request().headers().firstValue("Last-Event-ID"))
                .contains(FakeResolver.id(100, 1));
        connected().tell(id(101, 1));
        assertThat(state()).isEqualTo(Feed.CURRENT);
        assertThat(cache.get(Ref.of(NAME))).isNotNull();
    }

    @Test
    void aFeedWhoseIdsAdvanceWithinTheSameSecondIsSilent() {
        feed.connect();
        FakeHttpClient.Open<?> stream = connected().tell(id(100, 1));
        keep();
        for (int i = 2; state() == Feed.CURRENT && i < 100; i++) {
            timer.pass(Duration.ofSeconds(5));
            stream.tell(id(100, i));
        }
        assertThat(timer.nanos())
                .isLessThan(SILENCE.toNanos() + Duration.ofSeconds(6).toNanos());
        assertThat(cache.get(Ref.of(NAME))).isNull();
        assertThat(feed.statistics().trouble()).contains("did not advance for PT45S");
    }

    @Test
    void aFeedWhoseSecondsAdvanceIsNotSilent() {
        feed.connect();
        FakeHttpClient.Open<?> stream = connected().tell(id(100, 1));
        keep();
        for (int i = 1; i < 100; i++) {
            timer.pass(Duration.ofSeconds(30));
            stream.tell(id(100 + i, 1));
        }
        assertThat(state()).isEqualTo(Feed.CURRENT);
        assertThat(cache.get(Ref.of(NAME))).isNotNull();
        assertThat(http.exchanges).hasSize(1);
    }
}
