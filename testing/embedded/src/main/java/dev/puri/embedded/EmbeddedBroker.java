package dev.puri.embedded;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import kafka.server.BrokerServer;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.metadata.storage.Formatter;

/**
 * A Kafka broker for demos and tests. It runs Kafka's production classes for broker and controller in this process, as
 * one {@link KraftNode} on the loopback interface. All topics have one replica.
 *
 * <p>Thread-safe once started.
 */
public final class EmbeddedBroker implements AutoCloseable {
    private static final int NODE_ID = 1;

    /**
     * Another process may take a free port before the broker binds it. If the caller left the port free, the start is
     * then repeated with other ports.
     */
    private static final int MAX_PORT_ATTEMPTS = 3;

    private static final Object START_LOCK = new Object();

    private final DataDirectory data;
    private final KraftNode node;
    private final int port;
    private boolean closed;

    private EmbeddedBroker(DataDirectory data, KraftNode node, int port) {
        this.data = data;
        this.node = node;
        this.port = port;
    }

    /**
     * Starts a broker and returns when it serves requests.
     *
     * @param data the broker's directory; a new directory is formatted, an existing directory keeps its topics and
     *     records
     * @param port the port for clients, or 0 for any free port
     * @throws EmbeddedException if the port or the directory is in use, or the broker fails to start
     */
    public static EmbeddedBroker start(Path data, int port) {
        Ports.requireFree(port, "the broker");
        DataDirectory directory = DataDirectory.lock(data, "the broker");
        boolean started = false;
        try {
            format(directory);
            EmbeddedBroker broker = port == 0 ? startOnFreePort(directory) : start(directory, port);
            started = true;
            return broker;
        } finally {
            if (!started) {
                directory.close();
            }
        }
    }

    private static EmbeddedBroker startOnFreePort(DataDirectory data) {
        for (int attempt = 1; ; attempt++) {
            int port = Ports.free();
            try {
                return start(data, port);
            } catch (EmbeddedException e) {
                if (attempt == MAX_PORT_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private static EmbeddedBroker start(DataDirectory data, int port) {
        int controllerPort = Ports.free();
        // If the start fails, Kafka halts the JVM without a message. So the halt procedure throws an exception during
        // the start. The halt procedure is global, so only one broker starts at a time.
        synchronized (START_LOCK) {
            Exit.setHaltProcedure((status, message) -> {
                throw new IllegalStateException(message == null ? "a fatal fault; see the log" : message);
            });
            try {
                KraftNode node = new KraftNode(new KafkaConfig(settings(data, port, controllerPort)));
                start(node);
                return new EmbeddedBroker(data, node, port);
            } catch (RuntimeException e) {
                throw new EmbeddedException(
                        "the broker did not start on " + Ports.HOST + ":" + port + " with data in " + data.path() + ": "
                                + e.getMessage(),
                        e);
            } finally {
                Exit.resetHaltProcedure();
            }
        }
    }

    private static void start(KraftNode node) {
        boolean started = false;
        try {
            node.start();
            started = true;
        } finally {
            if (!started) {
                node.stop();
            }
        }
    }

    private static Properties settings(DataDirectory data, int port, int controllerPort) {
        Properties settings = new Properties();
        settings.put("process.roles", "broker,controller");
        settings.put("node.id", Integer.toString(NODE_ID));
        settings.put("controller.quorum.voters", NODE_ID + "@" + Ports.HOST + ":" + controllerPort);
        settings.put("controller.listener.names", "CONTROLLER");
        settings.put("inter.broker.listener.name", "CLIENT");
        settings.put("listener.security.protocol.map", "CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        settings.put(
                "listeners",
                "CLIENT://" + Ports.HOST + ":" + port + ",CONTROLLER://" + Ports.HOST + ":" + controllerPort);
        settings.put("log.dirs", data.resolve("log").toString());
        settings.put("auto.create.topics.enable", "false");

        // There is one broker, so internal topics have one replica too. They have few partitions, because each
        // partition costs files and a leader election at every start.
        settings.put("default.replication.factor", "1");
        settings.put("min.insync.replicas", "1");
        settings.put("offsets.topic.replication.factor", "1");
        settings.put("offsets.topic.num.partitions", "4");
        settings.put("transaction.state.log.replication.factor", "1");
        settings.put("transaction.state.log.min.isr", "1");
        settings.put("transaction.state.log.num.partitions", "4");
        // Read-committed consumers wait until the broker aborts the transaction of a dead producer. By default the
        // broker looks for timed-out transactions only every 10 s.
        settings.put("transaction.abort.timed.out.transaction.cleanup.interval.ms", "1000");
        // The broker rejects the first write of a transaction until the markers of the producer's previous transaction
        // are written. Writing them takes a few milliseconds, so the retry delay is short.
        settings.put("add.partitions.to.txn.retry.backoff.ms", "2");
        settings.put("share.coordinator.state.topic.replication.factor", "1");
        settings.put("share.coordinator.state.topic.min.isr", "1");
        settings.put("share.coordinator.state.topic.num.partitions", "1");

        // Partitions must never lose their leader, neither when the machine stalls nor while the broker stops.
        // Otherwise the transaction coordinator assumes that they are deleted (see KraftNode).
        settings.put(
                "broker.session.timeout.ms", Long.toString(Duration.ofDays(10).toMillis()));
        settings.put("controlled.shutdown.enable", "false");

        // A new consumer group starts at once, without waiting for further members.
        settings.put("group.initial.rebalance.delay.ms", "0");
        // The default reserves 128 MiB of heap for the cleaner; 32 MiB suffice for a million keys in one run.
        settings.put("log.cleaner.dedupe.buffer.size", Integer.toString(32 << 20));
        return settings;
    }

    private static void format(DataDirectory data) {
        Path log = data.resolve("log");
        if (Files.exists(log.resolve("meta.properties"))) {
            return;
        }
        ByteArrayOutputStream report = new ByteArrayOutputStream();
        try {
            Files.createDirectories(log);
            new Formatter()
                    .setPrintStream(new PrintStream(report, true, StandardCharsets.UTF_8))
                    .setClusterId(Uuid.randomUuid().toString())
                    .setNodeId(NODE_ID)
                    .setControllerListenerName("CONTROLLER")
                    .setMetadataLogDirectory(log.toString())
                    .addDirectory(log.toString())
                    .run();
        } catch (Exception e) {
            throw new EmbeddedException(
                    "the broker's directory " + log + " could not be formatted: " + e.getMessage() + " "
                            + report.toString(StandardCharsets.UTF_8),
                    e);
        }
    }

    /** Returns the address for clients, as {@code host:port}. */
    public String bootstrapServers() {
        return Ports.HOST + ":" + port;
    }

    /** Returns the port for clients. */
    public int port() {
        return port;
    }

    /** Returns the number of bytes of records that clients have read since the start. */
    public long deliveredBytes() {
        return node.broker().brokerTopicStats().allTopicsStats().bytesOutRate().count();
    }

    /** Returns Kafka's broker object, for access to its internal state. */
    BrokerServer server() {
        return node.broker();
    }

    /** Shuts the broker down cleanly, so that the next start needs no log recovery. A second call does nothing. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        node.stop();
        data.close();
    }
}
