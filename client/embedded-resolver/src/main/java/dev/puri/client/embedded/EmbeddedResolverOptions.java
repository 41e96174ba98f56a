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
 * The options of an {@link EmbeddedResolver}; {@link #at} begins with the defaults.
 *
 * @param bootstrapServers Kafka brokers, {@code host:port}, separated by commas
 * @param schemaRegistry base URL of the schema registry's Confluent API, or several separated by commas, which are asked in turn
 * @param stateDir folder for this resolver alone, kept over a restart, with the table's snapshots. It is created if it does not exist
 * @param kafka any property of the Kafka clients and of the schema registry's client, such as {@code security.protocol}
 * @param snapshotInterval how often a snapshot of the table is written, if anything changed
 * @param maxPending most references that wait for the events of their tokens at once
 * @param maxLag most records that a ready table may be behind its topic
 * @param maxLagAge age of the last known lag from which the table is not ready; the lag is unknown while no broker answers
 * @param refusals most refusals that are remembered, to answer tokens of refused events with the reason; for 30 days at most
 * @param meters registry for the table's metrics, which have the names of a resolver's. Each embedded resolver needs a registry of its
 *     own; otherwise the metrics of the first are shown
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
        int refusals,
        MeterRegistry meters) {
    private static final Duration SHORTEST_INTERVAL = Duration.ofMillis(1);
    private static final Duration SHORTEST_LAG_AGE = Duration.ofSeconds(2);

    /**
     * @throws IllegalArgumentException that lists all mistakes
     */
    public EmbeddedResolverOptions {
        kafka = Map.copyOf(kafka);
        List<String> mistakes = new ArrayList<>();
        mistakes.addAll(KafkaOptions.ofBrokers(bootstrapServers));
        mistakes.addAll(KafkaOptions.ofSchemaRegistry(schemaRegistry, kafka));
        mistakes.addAll(KafkaOptions.ofProperties(kafka));
        require(
                snapshotInterval.compareTo(SHORTEST_INTERVAL) >= 0,
                "snapshotInterval: " + snapshotInterval + " is not positive",
                mistakes);
        require(maxPending >= 1, "maxPending: " + maxPending + " is less than 1", mistakes);
        require(maxLag >= 0, "maxLag: " + maxLag + " is less than 0", mistakes);
        require(
                maxLagAge.compareTo(SHORTEST_LAG_AGE) >= 0,
                "maxLagAge: " + maxLagAge + " is less than " + SHORTEST_LAG_AGE + "; brokers are asked once a second",
                mistakes);
        require(refusals >= 1, "refusals: " + refusals + " is less than 1", mistakes);
        if (!mistakes.isEmpty()) {
            throw new IllegalArgumentException(
                    "options that an embedded resolver cannot take:\n  " + String.join("\n  ", mistakes));
        }
    }

    private static void require(boolean holds, String mistake, List<String> mistakes) {
        if (!holds) {
            mistakes.add(mistake);
        }
    }

    /**
     * Begins with these settings, and the defaults of all others.
     *
     * @param bootstrapServers Kafka brokers, {@code host:port}, separated by commas
     * @param schemaRegistry base URL of the schema registry's Confluent API, or several separated by commas
     * @param stateDir folder for this resolver alone, kept over a restart
     */
    public static Builder at(String bootstrapServers, String schemaRegistry, Path stateDir) {
        return new Builder(bootstrapServers, schemaRegistry, stateDir);
    }

    /** Leaves out what may be secret: the values of Kafka properties, and the user info of URLs. */
    @Override
    public String toString() {
        return "EmbeddedResolverOptions[bootstrapServers=" + UserInfo.masked(bootstrapServers) + ", schemaRegistry="
                + UserInfo.masked(schemaRegistry)
                + ", stateDir=" + stateDir + ", kafka=" + new TreeSet<>(kafka.keySet()) + ", snapshotInterval="
                + snapshotInterval + ", maxPending=" + maxPending + ", maxLag=" + maxLag + ", maxLagAge=" + maxLagAge
                + ", refusals=" + refusals + "]";
    }

    /** Options that are not complete yet; the record says what each means. Not thread-safe. */
    public static final class Builder {
        private final String bootstrapServers;
        private final String schemaRegistry;
        private final Path stateDir;
        private Map<String, String> kafka = Map.of();
        private Duration snapshotInterval = Duration.ofMinutes(10);
        private int maxPending = 10_000;
        private long maxLag = 10_000;
        private Duration maxLagAge = Duration.ofSeconds(30);
        private int refusals = 100_000;
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
        public Builder refusals(int remembered) {
            refusals = remembered;
            return this;
        }

        /** None by default. */
        public Builder meters(MeterRegistry registry) {
            meters = registry;
            return this;
        }

        /**
         * The options.
         *
         * @throws IllegalArgumentException that lists all mistakes
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
                    refusals,
                    meters);
        }
    }
}
