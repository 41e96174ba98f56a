package dev.puri.client.outbox;

import dev.puri.testkit.ServerProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** A relay in a process of its own, to be killed. */
public final class RelayChild {
    private static final String PREFIX = "OUTBOX_";

    private RelayChild() {}

    /** The environment variables that the process needs. */
    static Map<String, String> environment(TestDatabase database, String table, Map<String, Object> properties) {
        Map<String, String> environment = new HashMap<>();
        environment.put(PREFIX + "DIALECT", database.dialect().name());
        environment.put(PREFIX + "JDBC_URL", database.jdbcUrl());
        environment.put(PREFIX + "TABLE", table);
        properties.forEach((key, value) -> environment.put(PREFIX + "property." + key, value.toString()));
        return environment;
    }

    /** Runs a relay until the parent ends or kills it. */
    public static void run(Function<RelaySettings, Feed> feed) throws IOException {
        Map<String, String> environment = System.getenv();
        Map<String, Object> properties = new HashMap<>();
        String prefix = PREFIX + "property.";
        environment.forEach((key, value) -> {
            if (key.startsWith(prefix)) {
                properties.put(key.substring(prefix.length()), value);
            }
        });
        Dialect dialect = Dialect.valueOf(environment.get(PREFIX + "DIALECT"));
        RelaySettings settings = RelaySettings.of(
                        TestDatabase.dataSource(dialect, environment.get(PREFIX + "JDBC_URL")), dialect, properties)
                .withTable(environment.get(PREFIX + "TABLE"))
                .withOwnsTopic(namespace -> true)
                .withTimes(Duration.ofMillis(20), Duration.ofHours(1), Duration.ofMillis(50));
        OutboxRelay.start(settings, feed.apply(settings));
        ServerProcess.endWithParent();
    }

    public static void main(String[] args) throws IOException {
        run(settings -> Feed.NONE);
    }
}
