package dev.puri.client.outbox;

import java.time.Duration;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import javax.sql.DataSource;

/**
 * The settings of a relay.
 *
 * @param dataSource connects to the service's database. A relay keeps one connection as long as it is the leader. The
 *     connection must keep the same database session, which has the relay's lock, so a proxy that changes the session
 *     for each transaction does not work
 * @param table name of the outbox table, valid for {@link OutboxSchema#sql(Dialect, String)}
 * @param properties properties of Kafka and of the serializer, like those of {@code IdentityPublisher}. Properties that
 *     a publisher does not allow are ignored
 * @param ownsTopic returns true if the events of a namespace go to the namespace's own topic; usually {@code
 *     declarations::ownsTopic}
 * @param pollInterval time between two reads of the table while it is empty, if no feed runs; a longer time becomes
 *     5 minutes
 * @param sweepInterval time between two reads of the table although a feed runs, in case the feed missed rows
 * @param firstBackoff time before the first retry. Each further failure doubles the time, up to 60 s. Applies to a
 *     blocked row, to the feed and to the relay as a whole
 */
public record RelaySettings(
        DataSource dataSource,
        Dialect dialect,
        String table,
        Map<?, ?> properties,
        Predicate<String> ownsTopic,
        Duration pollInterval,
        Duration sweepInterval,
        Duration firstBackoff) {
    private static final Duration MAX_BACKOFF = Duration.ofSeconds(60);

    /** MySQL and MariaDB end the leader's session after 10 minutes without a statement. */
    private static final Duration MAX_POLL_INTERVAL = Duration.ofMinutes(5);

    /**
     * @throws IllegalArgumentException if the table name is not valid, or a time is not positive
     */
    public RelaySettings {
        OutboxSchema.requireValidTableName(table);
        properties = Map.copyOf(properties);
        for (Duration time : new Duration[] {pollInterval, sweepInterval, firstBackoff}) {
            if (time.isNegative() || time.isZero()) {
                throw new IllegalArgumentException("the times of a relay must be positive, not " + time);
            }
        }
        pollInterval = pollInterval.compareTo(MAX_POLL_INTERVAL) < 0 ? pollInterval : MAX_POLL_INTERVAL;
    }

    /** Returns settings with the default table and times, and with the shared topic for all namespaces. */
    public static RelaySettings of(DataSource dataSource, Dialect dialect, Map<?, ?> properties) {
        return new RelaySettings(
                dataSource,
                dialect,
                OutboxSchema.DEFAULT_TABLE,
                properties,
                namespace -> false,
                Duration.ofMillis(50),
                Duration.ofSeconds(30),
                Duration.ofSeconds(1));
    }

    /** Returns these settings with another table. */
    public RelaySettings withTable(String name) {
        return new RelaySettings(
                dataSource, dialect, name, properties, ownsTopic, pollInterval, sweepInterval, firstBackoff);
    }

    /** Returns these settings with another predicate for the namespaces that have their own topic. */
    public RelaySettings withOwnsTopic(Predicate<String> owns) {
        return new RelaySettings(
                dataSource, dialect, table, properties, owns, pollInterval, sweepInterval, firstBackoff);
    }

    /** Returns these settings with other times. */
    public RelaySettings withTimes(Duration poll, Duration sweep, Duration backoff) {
        return new RelaySettings(dataSource, dialect, table, properties, ownsTopic, poll, sweep, backoff);
    }

    /**
     * Returns the settings as text, with the names of the Kafka properties but without their values, which may be
     * secret.
     */
    @Override
    public String toString() {
        return "RelaySettings[dataSource=" + dataSource.getClass().getName() + ", dialect=" + dialect + ", table="
                + table
                + ", properties="
                + new TreeSet<>(
                        properties.keySet().stream().map(String::valueOf).toList()) + ", pollInterval="
                + pollInterval + ", sweepInterval=" + sweepInterval + ", firstBackoff=" + firstBackoff + "]";
    }

    /** Returns the time before the next retry, after this number of consecutive failures. */
    Duration backoff(int consecutiveFailures) {
        Duration backoff = firstBackoff.multipliedBy(1L << Math.min(consecutiveFailures - 1, 16));
        return backoff.compareTo(MAX_BACKOFF) < 0 ? backoff : MAX_BACKOFF;
    }
}
