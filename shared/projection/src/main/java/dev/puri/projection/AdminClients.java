package dev.puri.projection;

import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;

/** Creates admin clients whose requests fail soon, so that a caller notices brokers that do not respond. */
public final class AdminClients {
    /** The time after which a request fails. */
    public static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);

    private AdminClients() {}

    /**
     * Creates a client; sends no request.
     *
     * @param kafka the user's Kafka properties
     * @throws org.apache.kafka.common.KafkaException if no client can be created with the properties
     */
    public static Admin create(Map<String, String> kafka, String bootstrapServers) {
        Properties config = new Properties();
        config.putAll(kafka);
        config.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
        config.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, Long.toString(REQUEST_TIMEOUT.toMillis()));
        config.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, Long.toString(REQUEST_TIMEOUT.toMillis()));
        return Admin.create(config);
    }
}
