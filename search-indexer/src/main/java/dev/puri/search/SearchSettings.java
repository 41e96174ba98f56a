package dev.puri.search;

import dev.puri.http.HttpSettings;
import dev.puri.http.PublicListenerSettings;
import dev.puri.http.StateDirectory;
import dev.puri.search.opensearch.OpenSearchSettings;
import dev.puri.settings.KafkaProperties;
import dev.puri.settings.Secret;
import dev.puri.settings.Setting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** The settings of a search indexer. A test checks the table in docs/settings.md against this record. */
public record SearchSettings(
        @Setting(doc = "Kafka brokers, HOST:PORT, separated by commas.", byDefault = "127.0.0.1:9092")
        String bootstrapServer,

        @Setting(
                doc = "Base URL of the schema registry's Confluent API.",
                byDefault = "http://127.0.0.1:8081/apis/ccompat/v7")
        String schemaRegistry,

        @Setting(
                doc = "Address that the indexer listens on; anyone who can reach it can search all identities.",
                byDefault = "127.0.0.1")
        String httpHost,

        @Setting(
                doc = "Port that the indexer listens on; 0 takes a free port.",
                byDefault = "8083",
                atLeast = "0",
                atMost = "65535")
        int httpPort,

        EngineSettings engine,

        @Setting(
                doc =
                        "Folder for Lucene's index, which survives restarts. No other instance may use it. Unset means that the index is"
                                + " rebuilt at every start.")
        Optional<Path> stateDir,

        @Setting(
                doc = "Time after which searches find a change that was read.",
                byDefault = "200ms",
                atLeast = "10ms",
                atMost = "10s")
        Duration searchRefreshInterval,

        @Setting(
                doc = "Interval between commits of the index to disk. After a crash, later records are read again.",
                byDefault = "5s",
                atLeast = "100ms",
                atMost = "10m")
        Duration searchCommitInterval,

        @Setting(
                doc =
                        "Time after which erased data must be purged from the index files. In OpenSearch this takes at least half"
                                + " a minute.",
                byDefault = "1h",
                atLeast = "1s",
                atMost = "30d")
        Duration searchForgetAfter,

        @Setting(
                doc =
                        "Secret that encrypts cursors. Must be the same for all instances behind one address. By default each"
                                + " instance creates a key in its state folder.")
        Optional<Secret> searchCursorSecret,

        @Setting(
                doc =
                        "Rate at which the indexer compares stored entries with their hashes, in entries a second; 0 turns this"
                                + " off.",
                byDefault = "10000",
                atLeast = "0",
                atMost = "10000000")
        int searchCheckRate,

        @Setting(doc = "Maximum number of concurrent searches.", byDefault = "4", atLeast = "1", atMost = "1000")
        int searchThreads,

        @Setting(doc = "Maximum number of waiting searches.", byDefault = "1000", atLeast = "1", atMost = "100000")
        int searchQueue,

        @Setting(
                doc = "Maximum time that a search may wait before it is refused with 503.",
                byDefault = "1s",
                atLeast = "10ms",
                atMost = "5m")
        Duration searchQueueTimeout,

        @Setting(
                doc = "Maximum time that a request may wait for the event of its token.",
                byDefault = "30s",
                atLeast = "0s",
                atMost = "5m")
        Duration maxWait,

        @Setting(
                doc = "Maximum number of requests that wait for events; on one connection a tenth of it.",
                byDefault = "10000",
                atLeast = "1",
                atMost = "1000000")
        int maxWaiters,

        @Setting(doc = "Lag of the index in offsets above which it is not ready.", byDefault = "10000", atLeast = "0")
        long maxLag,

        @Setting(
                doc = "Time without a response of the brokers after which the index is not ready.",
                byDefault = "30s",
                atLeast = "2s")
        Duration maxLagAge,

        @Setting(
                doc =
                        "Time for which a stopping indexer still serves but is not ready, so that load balancers drop it.",
                byDefault = "5s",
                atLeast = "0s",
                atMost = "10m")
        Duration drainDelay,

        @Setting(
                doc = "Maximum number of refusals and erasures in memory.",
                byDefault = "100000",
                atLeast = "1",
                atMost = "10000000")
        int rejectionsHistory,

        @Setting(
                doc = "Maximum age of a refusal in memory. Refusals of an erased pURI are dropped at once.",
                byDefault = "30d",
                atLeast = "1m",
                atMost = "30d")
        Duration rejectionsMaxAge,

        OpenSearchSettings openSearch,
        PublicListenerSettings publicListener,
        HttpSettings http,

        @Setting(doc = "Any property of the Kafka clients, e.g. PURI_KAFKA_SECURITY_PROTOCOL=SASL_SSL.")
        KafkaProperties kafka) {
    /**
     * @throws IllegalArgumentException if the state folder cannot be used
     */
    public SearchSettings {
        stateDir.ifPresent(StateDirectory::requireUsable);
    }
}
