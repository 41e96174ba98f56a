package dev.puri.client.outbox;

import java.time.Duration;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import javax.sql.DataSource;

/**
 * The settings of a relay.
 *
 * @param dataSource connects to the service's database. A relay keeps one connection for as long as it leads, and must reach the
 *     database itself: a proxy that gives each transaction another session would break its lock
 * @param table as {@link OutboxSchema#sql(Dialect, String)} takes it
 * @param properties Kafka's and the serializer's, as {@code IdentityPublisher} takes them; those that it refuses are ignored
 * @param ownsTopic whether a namespace's events go to its own topic; usually {@code declarations::ownsTopic}
 * @param pollInterval how often the table is read while it is empty, without a feed
 * @param sweepInterval how often the table is read although a feed reports its rows
 * @param firstBackoff the wait after a first failure, doubled by each further one up to 60 s; for a blocked row, the feed and
 *     the relay as a whole
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

    /**
     * @throws IllegalArgumentException if the table's name has a wrong form, or a time is not positive
     */
    public RelaySettings {
        OutboxSchema.requireTable(table);
        properties = Map.copyOf(properties);
        for (Duration time : new Duration[] {pollInterval, sweepInterval, firstBackoff}) {
            if (time.isNegative() || time.isZero()) {
                throw new IllegalArgumentException("a relay's times are positive, not " + time);
            }
        }
    }

    /** Settings with the default table and times, and the shared topic for all namespaces. */
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

    /** Returns these settings with other namespaces that own their events topic. */
    public RelaySettings withOwnsTopic(Predicate<String> owns) {
        return new RelaySettings(
                dataSource, dialect, table, properties, owns, pollInterval, sweepInterval, firstBackoff);
    }

    /** Returns these settings with other times. */
    public RelaySettings withTimes(Duration poll, Duration sweep, Duration backoff) {
        return new RelaySettings(dataSource, dialect, table, properties, ownsTopic, poll, sweep, backoff);
    }

    /** Shows Kafka's properties without their values, which may be secret. */
    @Override
    public String toString() {
        return "RelaySettings[dataSource=" + dataSource.getClass().getName() + ", dialect=" + dialect + ", table="
                + table
                + ", properties="
                + new TreeSet<>(
                        properties.keySet().stream().map(String::valueOf).toList()) + ", pollInterval="
                + pollInterval + ", sweepInterval=" + sweepInterval + ", firstBackoff=" + firstBackoff + "]";
    }

    /** The wait after a number of failures in a row. */
    Duration backoff(int failures) {
        Duration wait = firstBackoff.multipliedBy(1L << Math.min(failures - 1, 16));
        return wait.compareTo(MAX_BACKOFF) < 0 ? wait : MAX_BACKOFF;
    }
}
