package dev.puri.resolver;

import dev.puri.http.HttpSettings;
import dev.puri.http.PublicSettings;
import dev.puri.http.StateFolder;
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
                doc = "Address that the resolver listens on; whoever reaches it can read every identity.",
                byDefault = "127.0.0.1")
        String httpHost,

        @Setting(
                doc = "Port that the resolver listens on; 0 takes any free one.",
                byDefault = "8080",
                atLeast = "0",
                atMost = "65535")
        int httpPort,

        @Setting(doc = "Most references in one batch.", byDefault = "1000", atLeast = "1", atMost = "100000")
        int maxRefs,

        @Setting(doc = "Most bytes in a request's body.", byDefault = "1048576", atLeast = "1024", atMost = "104857600")
        int maxBodyBytes,

        @Setting(
                doc = "Longest time that a request may wait for the event of its token.",
                byDefault = "30s",
                atLeast = "0s",
                atMost = "5m")
        Duration maxWait,

        @Setting(
                doc =
                        "Most requests that may wait for events at once; on one connection a tenth, or PURI_MAX_REFS if that is more.",
                byDefault = "10000",
                atLeast = "1",
                atMost = "1000000")
        int maxWaiters,

        @Setting(
                doc = "Records that the table may be behind its topic before it is not ready.",
                byDefault = "10000",
                atLeast = "0")
        long maxLag,

        @Setting(
                doc = "How long no broker may tell how far behind the table is before it is not ready.",
                byDefault = "30s",
                atLeast = "2s")
        Duration maxLagAge,

        @Setting(
                doc = "How long a stopping resolver answers as before, but is not ready, so that balancers leave it.",
                byDefault = "5s",
                atLeast = "0s",
                atMost = "10m")
        Duration drainDelay,

        @Setting(doc = "Folder for this instance alone, kept over a restart: the table's snapshots. None by default.")
        Optional<Path> stateDir,

        @Setting(
                doc = "How often the table's snapshot is written anew, if anything changed.",
                byDefault = "10m",
                atLeast = "1s",
                atMost = "1d")
        Duration snapshotInterval,

        @Setting(
                doc =
                        "Base URL of a search indexer, to which the page's searches are passed on, with the viewer's token."
                                + " None by default, and then the page has no search.")
        Optional<URI> searchUrl,

        PublicSettings toPublic,
        ChangesSettings changes,
        HttpSettings http,

        @Setting(doc = "Any property of the Kafka clients, e.g. PURI_KAFKA_SECURITY_PROTOCOL=SASL_SSL.")
        KafkaProperties kafka) {
    /**
     * @throws IllegalArgumentException if the folder or the indexer's address is unusable
     */
    public ResolverSettings {
        stateDir.ifPresent(StateFolder::requireUsable);
        searchUrl.ifPresent(ResolverSettings::requireHttp);
    }

    private static void requireHttp(URI url) {
        if (!List.of("http", "https").contains(String.valueOf(url.getScheme()))
                || url.getHost() == null
                || url.getQuery() != null
                || url.getFragment() != null
                || url.getUserInfo() != null) {
            throw new IllegalArgumentException(
                    "PURI_SEARCH_URL: \"" + url + "\" is no address such as http://127.0.0.1:8083");
        }
    }
}
