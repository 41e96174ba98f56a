package dev.puri.client.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Checks which versions of Kafka's jars are on the class path. Spring Boot manages older ones than the table's feed needs, and
 * with those the feed's thread would fail over and over with a {@code NoSuchMethodError}.
 */
final class KafkaVersion {
    /** The first version whose Kafka Streams lets a store keep its own offsets (KIP-1035). */
    private static final int MAJOR = 4;

    private static final int MINOR = 3;

    /** Confluent's major versions are ahead of Kafka's by this: its build of Kafka 4 is version 8. */
    private static final int CONFLUENT_AHEAD = 4;

    private static final Pattern VERSION = Pattern.compile("(\\d{1,6})\\.(\\d{1,6})\\b.*");
    private static final Pattern CONFLUENT = Pattern.compile(".*-(ccs|ce)\\b.*");

    private KafkaVersion() {}

    /**
     * Checks the jars that this class sees.
     *
     * @throws IllegalStateException if one is too old; the message has the versions found and needed, and the build setting
     */
    static void requireNew() {
        require(read("/kafka/kafka-version.properties"), read("/kafka/kafka-streams-version.properties"));
    }

    /**
     * @param clients version of kafka-clients; null, which passes, if its jar does not say
     * @param streams version of kafka-streams; null likewise
     */
    static void require(@Nullable String clients, @Nullable String streams) {
        List<String> old = new ArrayList<>();
        addIfOld("kafka-clients", clients, old);
        addIfOld("kafka-streams", streams, old);
        if (!old.isEmpty()) {
            throw new IllegalStateException(
                    "EmbeddedResolver needs kafka-clients and kafka-streams " + MAJOR + "." + MINOR
                            + " or newer, and found " + String.join(" and ", old)
                            + ". Spring Boot manages older versions: set its property kafka.version, in Maven"
                            + " <kafka.version>4.3.1</kafka.version>, in Gradle ext['kafka.version'] = '4.3.1'");
        }
    }

    private static void addIfOld(String jar, @Nullable String version, List<String> old) {
        Matcher parts = VERSION.matcher(version == null ? "" : version);
        if (version == null || !parts.matches()) {
            return;
        }
        int ahead = CONFLUENT.matcher(version).matches() ? CONFLUENT_AHEAD : 0;
        int major = Integer.parseInt(parts.group(1)) - ahead;
        int minor = Integer.parseInt(parts.group(2));
        if (major < MAJOR || major == MAJOR && minor < MINOR) {
            old.add(jar + " " + version);
        }
    }

    private static @Nullable String read(String resource) {
        try (InputStream file = KafkaVersion.class.getResourceAsStream(resource)) {
            if (file == null) {
                return null;
            }
            Properties properties = new Properties();
            properties.load(file);
            return properties.getProperty("version");
        } catch (IOException e) {
            // The first class that is loaded from an unreadable jar fails with a clearer message.
            return null;
        }
    }
}
