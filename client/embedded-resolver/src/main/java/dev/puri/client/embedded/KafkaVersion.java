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
 * Checks the versions of Kafka's jars on the class path. Spring Boot manages older versions than the embedded table
 * needs. With these, the thread that reads the table's topic would fail again and again with a
 * {@code NoSuchMethodError}.
 */
final class KafkaVersion {
    /** The first version in which a store of Kafka Streams can manage its own offsets (KIP-1035). */
    private static final int MIN_MAJOR = 4;

    private static final int MIN_MINOR = 3;

    /** The difference between Confluent's and Kafka's major version: Confluent's build of Kafka 4 has version 8. */
    private static final int CONFLUENT_MAJOR_DIFFERENCE = 4;

    private static final Pattern VERSION = Pattern.compile("(\\d{1,6})\\.(\\d{1,6})\\b.*");
    private static final Pattern CONFLUENT_VERSION = Pattern.compile(".*-(ccs|ce)\\b.*");

    private KafkaVersion() {}

    /**
     * Checks the jars on the class path.
     *
     * @throws IllegalStateException if a jar is too old. The message has the found and the required version, and the
     *     build setting that changes it
     */
    static void requireMinVersion() {
        require(readVersion("/kafka/kafka-version.properties"), readVersion("/kafka/kafka-streams-version.properties"));
    }

    /**
     * Checks two versions.
     *
     * @param clients version of kafka-clients; null, which is accepted, if the jar does not contain its version
     * @param streams version of kafka-streams; null, which is accepted, if the jar does not contain its version
     */
    static void require(@Nullable String clients, @Nullable String streams) {
        List<String> tooOld = new ArrayList<>();
        addIfTooOld("kafka-clients", clients, tooOld);
        addIfTooOld("kafka-streams", streams, tooOld);
        if (!tooOld.isEmpty()) {
            throw new IllegalStateException(
                    "EmbeddedResolver needs kafka-clients and kafka-streams " + MIN_MAJOR + "." + MIN_MINOR
                            + " or newer, but found " + String.join(" and ", tooOld)
                            + ". Spring Boot manages older versions: set its property kafka.version, in Maven"
                            + " <kafka.version>4.3.1</kafka.version>, in Gradle ext['kafka.version'] = '4.3.1'");
        }
    }

    private static void addIfTooOld(String jar, @Nullable String version, List<String> tooOld) {
        Matcher parts = VERSION.matcher(version == null ? "" : version);
        if (version == null || !parts.matches()) {
            return;
        }
        int difference = CONFLUENT_VERSION.matcher(version).matches() ? CONFLUENT_MAJOR_DIFFERENCE : 0;
        int major = Integer.parseInt(parts.group(1)) - difference;
        int minor = Integer.parseInt(parts.group(2));
        if (major < MIN_MAJOR || major == MIN_MAJOR && minor < MIN_MINOR) {
            tooOld.add(jar + " " + version);
        }
    }

    private static @Nullable String readVersion(String resource) {
        try (InputStream file = KafkaVersion.class.getResourceAsStream(resource)) {
            if (file == null) {
                return null;
            }
            Properties properties = new Properties();
            properties.load(file);
            return properties.getProperty("version");
        } catch (IOException e) {
            // Loading a class from an unreadable jar fails later, with a clearer message.
            return null;
        }
    }
}
