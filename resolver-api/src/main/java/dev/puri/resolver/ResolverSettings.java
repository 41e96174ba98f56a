package dev.puri.resolver;

import dev.puri.http.HttpSettings;
import dev.puri.http.PublicListenerSettings;
import dev.puri.http.StateDirectory;
import dev.puri.settings.KafkaProperties;
import dev.puri.settings.Setting;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** All settings of a resolver; a test compares the table in docs/settings.md with it. */
public record ResolverSettings(
        @Setting(doc = "Kafka brokers, HOST:PORT, separated by commas.", byDefault = "127.0.0.1:9092")
        String bootstrapServer,

        @Setting(
                doc = "Base URL of the schema registry's Confluent API.",
                byDefault = "http://127.0.0.1:8081/apis/ccompat/v7")
        String schemaRegistry,

        @Setting(
                doc = "Address that the resolver listens on. Its clients can read every identity.",
                byDefault = "127.0.0.1")
        String httpHost,

        @Setting(
                doc = "Port that the resolver listens on; 0 for any free port.",
                byDefault = "8080",
                atLeast = "0",
                atMost = "65535")
        int httpPort,

        @Setting(
                doc = "Maximum number of references in one batch.",
                byDefault = "1000",
                atLeast = "1",
                atMost = "100000")
        int maxRefs,

        @Setting(
                doc = "Maximum size of a request's body, in bytes.",
                byDefault = "1048576",
                atLeast = "1024",
                atMost = "104857600")
        int maxBodyBytes,

        @Setting(
                doc = "Maximum time that a request waits for the event of its token.",
                byDefault = "30s",
                atLeast = "0s",
                atMost = "5m")
        Duration maxWait,

        @Setting(
                doc = "Maximum number of references that wait for events at the same time. One connection may have a"
                        + " tenth of them, or PURI_MAX_REFS if that is more.",
                byDefault = "10000",
                atLeast = "1",
                atMost = "1000000")
        int maxWaiters,

        @Setting(doc = "Maximum lag of a ready resolver's table, in records.", byDefault = "10000", atLeast = "0")
        long maxLag,

        @Setting(
                doc = "Maximum age of the brokers' end offsets, from which a ready resolver computes its lag.",
                byDefault = "30s",
                atLeast = "2s")
        Duration maxLagAge,

        @Setting(
                doc = "How long a stopping resolver still answers, so that load balancers see that it is not ready.",
                byDefault = "5s",
                atLeast = "0s",
                atMost = "10m")
        Duration drainDelay,

        @Setting(doc = "Folder for snapshots of the table. No other instance may use it. None by default.")
        Optional<Path> stateDir,

        @Setting(
                doc = "How often a snapshot of the table is written, if the table changed.",
                byDefault = "10m",
                atLeast = "1s",
                atMost = "1d")
        Duration snapshotInterval,

        @Setting(
                doc = "Maximum number of rows and handles per second that the resolver checks for damaged memory; 0 for"
                        + " no check. It compares rows with the table's digests, and index entries with rows.",
                byDefault = "100000",
                atLeast = "0")
        long tableCheckRate,

        @Setting(
                doc = "Base URL of a search indexer. The resolver forwards the searches of its HTML page to it, with"
                        + " the user's token. None by default; then the page has no search.")
        Optional<URI> searchUrl,

        PublicListenerSettings publicListener,
        ChangesSettings changes,
        RefusalSettings refusals,
        HttpSettings http,

        @Setting(doc = "Any property of the Kafka clients, e.g. PURI_KAFKA_SECURITY_PROTOCOL=SASL_SSL.")
        KafkaProperties kafka) {
    /**
     * @throws IllegalArgumentException if the folder or the indexer's address is unusable
     */
    public ResolverSettings {
        stateDir.ifPresent(StateDirectory::requireUsable);
        searchUrl.ifPresent(ResolverSettings::requireHttp);
    }

    private static void requireHttp(URI url) {
        if (!List.of("http", "https").contains(String.valueOf(url.getScheme()))
                || url.getHost() == null
                || url.getQuery() != null
                || url.getFragment() != null
                || url.getUserInfo() != null) {
            throw new IllegalArgumentException(
                    "PURI_SEARCH_URL: \"" + url + "\" is no base URL such as http://127.0.0.1:8083; it must be http or"
                            + " https, without user, query and fragment");
        }
    }
}
