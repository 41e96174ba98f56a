package dev.puri.registry;

import java.time.Duration;

/**
 * The values that a config of a topic may have. An operator may choose another value than the created one if it is as
 * safe and lets the topic forget erased data in time:
 *
 * <table>
 * <caption>Allowed values</caption>
 * <tr><td>{@code retention.ms}</td><td>shorter, but at least a day: readers must read a record before it
 * expires</td></tr>
 * <tr><td>{@code delete.retention.ms}</td><td>longer, but at most 14 days: tombstones contain the names of erased
 * identities</td></tr>
 * <tr><td>{@code segment.ms}, {@code max.compaction.lag.ms}</td><td>shorter</td></tr>
 * <tr><td>{@code min.compaction.lag.ms}</td><td>longer: servers compare only digests that are younger</td></tr>
 * <tr><td>{@code max.message.bytes}</td><td>smaller, but not smaller than {@link #LARGEST_RECORD}</td></tr>
 * <tr><td>{@code min.insync.replicas}</td><td>more</td></tr>
 * </table>
 *
 * All other configs must have the created value.
 *
 * @param created the value with which the topic is created, or a value that repairs another one
 * @param min smallest allowed value of a number
 * @param max largest allowed value of a number
 * @param isNumber whether min and max apply; otherwise only the created value is allowed
 */
record ConfigRule(String created, long min, long max, boolean isNumber) {
    static final String MAX_MESSAGE_BYTES = "max.message.bytes";

    /**
     * Twice the largest event. With a smaller {@code max.message.bytes}, brokers refuse regular events or outputs of
     * the topology.
     */
    private static final long LARGEST_RECORD_BYTES = 256 << 10;

    /** Applies to {@code max.message.bytes} of the topics that are created with the cluster's default. */
    static final ConfigRule LARGEST_RECORD =
            new ConfigRule(Integer.toString((1 << 20) + 12), LARGEST_RECORD_BYTES, Long.MAX_VALUE, true);

    private static final long MIN_RETENTION_MILLIS = Duration.ofDays(1).toMillis();

    /**
     * A tombstone is compacted the first time within a week and two days: the markers of a week roll its segment. It is
     * removed by the next compaction after {@code delete.retention.ms}, again within a week: together less than 30
     * days.
     */
    private static final long MAX_TOMBSTONE_RETENTION_MILLIS =
            Duration.ofDays(14).toMillis();

    /** Returns the rule of a config that is created with a value. */
    static ConfigRule of(String config, String created) {
        return switch (config) {
            case "retention.ms" -> number(created, MIN_RETENTION_MILLIS, Long.parseLong(created));
            case MAX_MESSAGE_BYTES -> number(created, LARGEST_RECORD_BYTES, Long.parseLong(created));
            case "max.compaction.lag.ms", "segment.ms" -> number(created, 0, Long.parseLong(created));
            case "delete.retention.ms" -> number(created, Long.parseLong(created), MAX_TOMBSTONE_RETENTION_MILLIS);
            case "min.compaction.lag.ms", RegistryTopics.MIN_INSYNC ->
                number(created, Long.parseLong(created), Long.MAX_VALUE);
            default -> new ConfigRule(created, 0, 0, false);
        };
    }

    private static ConfigRule number(String created, long min, long max) {
        return new ConfigRule(created, min, max, true);
    }

    boolean allows(String actual) {
        if (!isNumber) {
            return actual.equals(created);
        }
        // No match for -1, which means "unlimited", and for the empty text of an absent value.
        return actual.matches("\\d{1,18}") && Long.parseLong(actual) >= min && Long.parseLong(actual) <= max;
    }

    /** Returns the allowed values for a message. */
    String expectation() {
        if (!isNumber || min == max) {
            return created;
        }
        String atLeast = "at least " + min;
        String atMost = "at most " + max;
        return max == Long.MAX_VALUE ? atLeast : min == 0 ? atMost : atLeast + " and " + atMost;
    }
}
