package dev.puri.search;

import dev.puri.http.HttpSettings;
import dev.puri.http.PublicSettings;
import dev.puri.http.StateFolder;
import dev.puri.search.opensearch.OpenSearchSettings;
import dev.puri.settings.KafkaProperties;
import dev.puri.settings.Secret;
import dev.puri.settings.Setting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** Everything that can be set about a search indexer; the table in docs/settings.md is checked against it. */
public record SearchSettings(
        @Setting(doc = "Kafka brokers, HOST:PORT, separated by commas.", byDefault = "127.0.0.1:9092")
        String bootstrapServer,

        @Setting(
                doc = "Base URL of the schema registry's Confluent API.",
                byDefault = "http://127.0.0.1:8081/apis/ccompat/v7")
        String schemaRegistry,

        @Setting(
                doc = "Address that the indexer listens on; whoever reaches it can search everything.",
                byDefault = "127.0.0.1")
        String httpHost,

        @Setting(
                doc = "Port that the indexer listens on; 0 takes any free one.",
                byDefault = "8083",
                atLeast = "0",
                atMost = "65535")
        int httpPort,

        EngineSettings engine,

        @Setting(
                doc = "Folder for this instance alone, kept over a restart: Lucene's index. None by default, and then"
                        + " it is built anew at every start.")
        Optional<Path> stateDir,

        @Setting(
                doc = "How long after it was read a change may be invisible.",
                byDefault = "200ms",
                atLeast = "10ms",
                atMost = "10s")
        Duration searchRefreshInterval,

        @Setting(
                doc = "How often the index is kept on disk; after a crash, what came since is read again.",
                byDefault = "5s",
                atLeast = "100ms",
                atMost = "10m")
        Duration searchCommitInterval,

        @Setting(
                doc =
                        "Within what time what was erased is gone from the index's files too; in OpenSearch that takes half a"
                                + " minute at least.",
                byDefault = "1h",
                atLeast = "1s",
                atMost = "30d")
        Duration searchForgetAfter,

        @Setting(
                doc =
                        "Text that cursors are encrypted with, the same for all instances behind one address; by default each"
                                + " makes its own and keeps it in its state folder.")
        Optional<Secret> searchCursorSecret,

        @Setting(doc = "Searches at a time.", byDefault = "4", atLeast = "1", atMost = "1000")
        int searchThreads,

        @Setting(
                doc = "Most searches that may wait for their turn.",
                byDefault = "1000",
                atLeast = "1",
                atMost = "100000")
        int searchQueue,

        @Setting(
                doc = "Longest time that a search may wait for its turn before it is refused with 503.",
                byDefault = "1s",
                atLeast = "10ms",
                atMost = "5m")
        Duration searchQueueTimeout,

        @Setting(
                doc = "Longest time that a request may wait for the event of its token.",
                byDefault = "30s",
                atLeast = "0s",
                atMost = "5m")
        Duration maxWait,

        @Setting(
                doc = "Most requests that may wait for events at once; on one connection a tenth.",
                byDefault = "10000",
                atLeast = "1",
                atMost = "1000000")
        int maxWaiters,

        @Setting(
                doc = "Offsets that the index may be behind its topics before it is not ready.",
                byDefault = "10000",
                atLeast = "0")
        long maxLag,

        @Setting(
                doc = "How long no broker may tell how far behind the index is before it is not ready.",
                byDefault = "30s",
                atLeast = "2s")
        Duration maxLagAge,

        @Setting(
                doc = "How long a stopping indexer answers as before, but is not ready, so that balancers leave it.",
                byDefault = "5s",
                atLeast = "0s",
                atMost = "10m")
        Duration drainDelay,

        @Setting(doc = "Refusals that are remembered.", byDefault = "100000", atLeast = "1", atMost = "10000000")
        int rejectionsHistory,

        @Setting(
                doc = "How long a refusal is remembered; those of a pURI that was erased are not, from then on.",
                byDefault = "30d",
                atLeast = "1m",
                atMost = "30d")
        Duration rejectionsMaxAge,

        OpenSearchSettings openSearch,
        PublicSettings toPublic,
        HttpSettings http,

        @Setting(doc = "Any property of the Kafka clients, e.g. PURI_KAFKA_SECURITY_PROTOCOL=SASL_SSL.")
        KafkaProperties kafka) {
    /**
     * @throws IllegalArgumentException when nothing can be kept in the folder
     */
    public SearchSettings {
        stateDir.ifPresent(StateFolder::requireUsable);
    }
}
