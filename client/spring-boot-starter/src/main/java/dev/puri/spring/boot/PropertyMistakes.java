package dev.puri.spring.boot;

import dev.puri.client.ProducerProperties;
import dev.puri.schemas.log.Event;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Finds mistakes in the values of the settings. Opens no connections. */
final class PropertyMistakes {
    /**
     * Names of the databases in {@code dev.puri.client.outbox.Dialect}. That enum may be missing from the class path.
     */
    static final Set<String> DIALECTS = Set.of("postgresql", "mysql", "mariadb");

    private static final boolean HAS_CLIENT_DECLARATIONS =
            ClassUtils.isPresent("dev.puri.client.declarations.CollectionsFile", null);

    private PropertyMistakes() {}

    /** Returns the mistakes. Each has the name of the setting, its value unless the value is secret, and the rule. */
    static List<String> of(PuriProperties properties) {
        List<String> mistakes = new ArrayList<>();
        checkService(properties, mistakes);
        checkKafka(properties, mistakes);
        checkResolver(properties.resolver(), mistakes);
        checkOutbox(properties.outbox(), mistakes);
        return mistakes;
    }

    private static void checkService(PuriProperties properties, List<String> mistakes) {
        String source = properties.source();
        if (source != null) {
            try {
                Event.requireSource("puri.source:", source);
            } catch (IllegalArgumentException e) {
                mistakes.add(String.valueOf(e.getMessage()));
            }
        }
        if (properties.collections() != null) {
            if (!HAS_CLIENT_DECLARATIONS) {
                mistakes.add("puri.collections=" + properties.collections()
                        + ": needs dev.puri:client-declarations on the class path");
            } else if (!properties.collections().exists()) {
                mistakes.add("puri.collections=" + properties.collections() + ": the file does not exist");
            }
        }
    }

    private static void checkKafka(PuriProperties properties, List<String> mistakes) {
        Map<String, String> producerProperties = properties.kafka().properties();
        forbid(producerProperties, "bootstrap.servers", "puri.kafka.bootstrap-servers", mistakes);
        forbid(producerProperties, "schema.registry.url", "puri.schema-registry.url", mistakes);
        if (properties.kafka().bootstrapServers().isEmpty()) {
            return;
        }
        if (properties.schemaRegistry().url().isEmpty()
                && !producerProperties.containsKey("schema.registry.url")
                && !producerProperties.containsKey(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG)) {
            mistakes.add("puri.schema-registry.url: is not set; events cannot be serialized without a schema registry");
        }
        String serversKey = ProducerConfig.BOOTSTRAP_SERVERS_CONFIG;
        for (String mistake : ProducerProperties.mistakes(properties.producerProperties())) {
            mistakes.add(
                    mistake.startsWith(serversKey)
                            ? "puri.kafka.bootstrap-servers" + mistake.substring(serversKey.length())
                            : "puri.kafka.properties." + mistake);
        }
    }

    private static void forbid(
            Map<String, String> producerProperties, String key, String setting, List<String> mistakes) {
        String value = producerProperties.get(key);
        if (value != null) {
            mistakes.add("puri.kafka.properties." + key + "=" + value + ": set " + setting + " instead");
        }
    }

    private static void checkResolver(PuriProperties.Resolver resolver, List<String> mistakes) {
        if (resolver.addresses().isEmpty()) {
            return;
        }
        try {
            resolver.options(null);
        } catch (IllegalArgumentException e) {
            String message = String.valueOf(e.getMessage());
            if (message.indexOf('\n') < 0) {
                mistakes.add("puri.resolver.addresses=" + String.join(",", resolver.addresses()) + ": " + message);
                return;
            }
            message.lines().skip(1).map(String::strip).forEach(line -> mistakes.add(withSettingName(line)));
        }
    }

    /**
     * Replaces the name of the option in {@code ResolverOptions}, with which a line begins, by the name of the setting.
     */
    private static String withSettingName(String line) {
        int colon = Math.max(0, line.indexOf(':'));
        String option = line.substring(0, colon);
        String setting = "puri.resolver."
                + switch (option) {
                    case "cacheSize" -> "cache.size";
                    case "replicaLag", "feedSilence" -> "cache." + SettingNames.dashed(option);
                    default -> SettingNames.dashed(option);
                };
        return SettingNames.all().contains(setting) ? setting + line.substring(colon) : "puri.resolver: " + line;
    }

    private static void checkOutbox(PuriProperties.Outbox outbox, List<String> mistakes) {
        String dialect = outbox.dialect();
        if (dialect != null && !DIALECTS.contains(dialect)) {
            mistakes.add("puri.outbox.dialect=" + dialect + ": must be postgresql, mysql or mariadb");
        }
        requirePositive("poll-interval", outbox.relay().pollInterval(), mistakes);
        requirePositive("sweep-interval", outbox.relay().sweepInterval(), mistakes);
        requirePositive("first-backoff", outbox.relay().firstBackoff(), mistakes);
        requirePositive("max-lag", outbox.relay().maxLag(), mistakes);
    }

    private static void requirePositive(String name, @Nullable Duration time, List<String> mistakes) {
        if (time == null || time.isNegative() || time.isZero()) {
            mistakes.add("puri.outbox.relay." + name + "=" + time + ": must be positive");
        }
    }
}
