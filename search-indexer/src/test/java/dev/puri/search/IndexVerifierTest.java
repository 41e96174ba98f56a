package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.Waiters;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Comparisons of an index with its topics, without brokers and without an engine. */
@Timeout(60)
final class IndexVerifierTest {
    private final MemoryTopics topics = new MemoryTopics();
    private final MemoryStore store = new MemoryStore();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final Indexer indexer =
            topics.indexer(() -> store, new OutcomeCache(meters), new Waiters(1), InstantSource.system(), meters);
    private final List<String> reported = new ArrayList<>();

    @BeforeEach
    void start() {
        topics.write("music:tracks:1", 1, "One");
        topics.write("music:tracks:2", 2, "Two");
        indexer.start();
        await().atMost(Duration.ofSeconds(30)).until(indexer.health()::isReady);
    }

    @AfterEach
    void stop() {
        indexer.close();
    }

    private IndexVerifier verifier(long maxNames, BooleanSupplier mayContinue) {
        return new IndexVerifier(
                indexer,
                topics::consumer,
                topics.decoder(new OutcomeCache(meters), new SimpleMeterRegistry()),
                maxNames,
                mayContinue,
                (puri, kind, difference, fields, indexed) ->
                        reported.add(puri + " " + kind + " " + difference + " " + fields));
    }

    private void plant(EntryKind kind, String puri, @Nullable Entry entry) {
        store.serving().plant(new IndexChange(kind, MemoryTopics.partition(puri), 0, Puri.parse(puri), entry));
    }

    @Test
    void reportsMissingDifferingAndUnknownEntries() throws Exception {
        plant(EntryKind.IDENTITY, "music:tracks:1", null);
        plant(EntryKind.IDENTITY, "music:tracks:2", Samples.active(2, "br-9"));
        plant(EntryKind.DOCUMENT, "music:tracks:3", Samples.document(Samples.active(3, "br-1"), "Three"));

        IndexVerifier verifier = verifier(2, () -> true);
        verifier.run();

        assertThat(reported)
                .containsExactlyInAnyOrder(
                        "music:tracks:1 IDENTITY MISSING []",
                        "music:tracks:2 IDENTITY DIFFERS [shard]",
                        "music:tracks:3 DOCUMENT GHOST []");
        assertThat(verifier.unsettledNames()).isZero();
    }

    @Test
    void aVerificationThatExceedsItsMemoryIsAborted() throws Exception {
        assertThatThrownBy(verifier(1, () -> true)::run)
                .isInstanceOf(IndexVerifier.AbortedException.class)
                .hasMessageContaining("has more than 1 names");
        IndexVerifier complete = verifier(2, () -> true);
        complete.run();
        assertThat(complete.comparedNames(EntryKind.IDENTITY)).isEqualTo(2);
        assertThat(reported).isEmpty();
    }

    @Test
    void aCancelledVerificationIsAborted() {
        assertThatThrownBy(verifier(2, () -> false)::run)
                .isInstanceOf(IndexVerifier.AbortedException.class)
                .hasMessage("the verification was cancelled");
    }
}
