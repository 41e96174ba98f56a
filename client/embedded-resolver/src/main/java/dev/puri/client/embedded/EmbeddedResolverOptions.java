package dev.puri.client.embedded;

import dev.puri.schemas.serde.UserInfo;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * The options of an {@link EmbeddedResolver}. {@link #at} creates a builder with the defaults.
 *
 * @param bootstrapServers Kafka brokers, {@code host:port}, separated by commas
 * @param schemaRegistry base URL of the schema registry's Confluent API, or several, separated by commas, as
 *     alternatives
 * @param stateDir folder for the snapshots of the identity table. No other resolver may use it, and it must survive a
 *     restart. It is created if it does not exist
 * @param kafka any property of the Kafka clients and of the schema registry's client, such as {@code security.protocol}
 * @param snapshotInterval time between two snapshots of the table, if the table changed
 * @param maxPending maximum number of references that wait for an event at the same time
 * @param maxLag maximum lag of a ready table, in records
 * @param maxLagAge maximum age of the end offsets from which the lag of a ready table is computed. The brokers are
 *     asked once a second, and the end offsets grow old while no broker responds
 * @param maxRefusals maximum number of refusals that are kept, so that a request with the token of a refused event gets
 *     the reason. Refusals are kept for at most 30 days
 * @param checkRate maximum number of rows and entries of the index of handles that are checked for damaged memory per
 *     second, by comparison with each other and with the digests; 0 turns the check off
 * @param meters registry for the metrics of the table, which have the names of the resolver's metrics. Each embedded
 *     resolver needs its own registry; a shared registry reports only the metrics of the first resolver
 */
public record EmbeddedResolverOptions(
        String bootstrapServers,
        String schemaRegistry,
        Path stateDir,
        Map<String, String> kafka,
        Duration snapshotInterval,
        int maxPending,
        long maxLag,
        Duration maxLagAge,
        int maxRefusals,
        long checkRate,
        MeterRegistry meters) {
    private static final Duration MIN_SNAPSHOT_INTERVAL = Duration.ofMillis(1);
    private static final Duration MIN_LAG_AGE = Duration.ofSeconds(2);

    /**
     * @throws IllegalArgumentException if an option is invalid. The message lists all mistakes
     */
    public EmbeddedResolverOptions {
        kafka = Map.copyOf(kafka);
        List<String> mistakes = new ArrayList<>();
        mistakes.addAll(KafkaOptionsCheck.mistakesInBrokers(bootstrapServers));
        mistakes.addAll(KafkaOptionsCheck.mistakesInSchemaRegistry(schemaRegistry, kafka));
        mistakes.addAll(KafkaOptionsCheck.mistakesInProperties(kafka));
        require(
                snapshotInterval.compareTo(MIN_SNAPSHOT_INTERVAL) >= 0,
                "snapshotInterval: " + snapshotInterval + " is less than " + MIN_SNAPSHOT_INTERVAL,
                mistakes);
        require(maxPending >= 1, "maxPending: " + maxPending + " is less than 1", mistakes);
        require(maxLag >= 0, "maxLag: " + maxLag + " is less than 0", mistakes);
        require(
                maxLagAge.compareTo(MIN_LAG_AGE) >= 0,
                "maxLagAge: " + maxLagAge + " is less than " + MIN_LAG_AGE
                        + ", and the brokers are asked only once a second",
                mistakes);
        require(maxRefusals >= 1, "maxRefusals: " + maxRefusals + " is less than 1", mistakes);
        require(checkRate >= 0, "checkRate: " + checkRate + " is less than 0", mistakes);
        if (!mistakes.isEmpty()) {
            throw new IllegalArgumentException(
                    "invalid options of the embedded resolver:\n  " + String.join("\n  ", mistakes));
        }
    }

    private static void require(boolean isValid, String mistake, List<String> mistakes) {
        if (!isValid) {
            mistakes.add(mistake);
        }
    }

    /**
     * Creates a builder with these options and the defaults for all others.
     *
     * @param bootstrapServers Kafka brokers, {@code host:port}, separated by commas
     * @param schemaRegistry base URL of the schema registry's Confluent API, or several separated by commas
     * @param stateDir folder for the snapshots. No other resolver may use it, and it must survive a restart
     */
    public static Builder at(String bootstrapServers, String schemaRegistry, Path stateDir) {
        return new Builder(bootstrapServers, schemaRegistry, stateDir);
    }

    /**
     * Omits the meters and the values of Kafka properties, and masks the user info of URLs, because they may be secret.
     */
    @Override
    public String toString() {
        return "EmbeddedResolverOptions[bootstrapServers=" + UserInfo.masked(bootstrapServers) + ", schemaRegistry="
                + UserInfo.masked(schemaRegistry)
                + ", stateDir=" + stateDir + ", kafka=" + new TreeSet<>(kafka.keySet()) + ", snapshotInterval="
                + snapshotInterval + ", maxPending=" + maxPending + ", maxLag=" + maxLag + ", maxLagAge=" + maxLagAge
                + ", maxRefusals=" + maxRefusals + ", checkRate=" + checkRate + "]";
    }

    /** Builds the options. {@link EmbeddedResolverOptions} describes each option. Not thread-safe. */
    public static final class Builder {
        private final String bootstrapServers;
        private final String schemaRegistry;
        private final Path stateDir;
        private Map<String, String> kafka = Map.of();
        private Duration snapshotInterval = Duration.ofMinutes(10);
        private int maxPending = 10_000;
        private long maxLag = 10_000;
        private Duration maxLagAge = Duration.ofSeconds(30);
        private int maxRefusals = 100_000;
        private long checkRate = 100_000;
        private MeterRegistry meters = new CompositeMeterRegistry();

        private Builder(String bootstrapServers, String schemaRegistry, Path stateDir) {
            this.bootstrapServers = bootstrapServers;
            this.schemaRegistry = schemaRegistry;
            this.stateDir = stateDir;
        }

        /** None by default. */
        public Builder kafka(Map<String, String> properties) {
            kafka = properties;
            return this;
        }

        /** 10 minutes by default. */
        public Builder snapshotInterval(Duration interval) {
            snapshotInterval = interval;
            return this;
        }

        /** 10,000 by default. */
        public Builder maxPending(int references) {
            maxPending = references;
            return this;
        }

        /** 10,000 by default. */
        public Builder maxLag(long records) {
            maxLag = records;
            return this;
        }

        /** 30 s by default. */
        public Builder maxLagAge(Duration age) {
            maxLagAge = age;
            return this;
        }

        /** 100,000 by default. */
        public Builder maxRefusals(int refusals) {
            maxRefusals = refusals;
            return this;
        }

        /** 100,000 by default. */
        public Builder checkRate(long rowsPerSecond) {
            checkRate = rowsPerSecond;
            return this;
        }

        /** None by default. */
        public Builder meters(MeterRegistry registry) {
            meters = registry;
            return this;
        }

        /**
         * Returns the options.
         *
         * @throws IllegalArgumentException if an option is invalid. The message lists all mistakes
         */
        public EmbeddedResolverOptions build() {
            return new EmbeddedResolverOptions(
                    bootstrapServers,
                    schemaRegistry,
                    stateDir,
                    kafka,
                    snapshotInterval,
                    maxPending,
                    maxLag,
                    maxLagAge,
                    maxRefusals,
                    checkRate,
                    meters);
        }
    }
}
