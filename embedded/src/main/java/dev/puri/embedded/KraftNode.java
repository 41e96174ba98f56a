package dev.puri.embedded;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import kafka.server.BrokerServer;
import kafka.server.ControllerServer;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.server.Server$;
import kafka.server.SharedServer;
import kafka.server.StandardFaultHandlerFactory;
import org.apache.kafka.common.errors.NotControllerException;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.controller.ControllerRequestContext;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.loader.LoaderManifest;
import org.apache.kafka.image.publisher.MetadataPublisher;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.bootstrap.BootstrapMetadata;
import org.apache.kafka.metadata.properties.MetaPropertiesEnsemble;
import org.apache.kafka.raft.QuorumConfig;
import org.apache.kafka.server.ServerSocketFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Tuple2;

/**
 * A lone broker and its controller, put together as {@link KafkaRaftServer} does it, with one step between the start of
 * the two.
 *
 * <p>After {@code kill -9}, and after {@code close} too, the metadata log still has the last incarnation of this broker
 * registered and leading every partition. A broker that starts on such metadata makes a transaction coordinator of
 * itself at once, although partitions lose that leader a moment later, when the controller ends the old registration.
 * A coordinator that finds no leader takes the partition for deleted: it skips the markers of a transaction that it
 * has decided to commit or abort, and writes that the transaction is complete (TransactionMarkerChannelManager). That
 * partition then has an open transaction for ever, and readers of committed records never get past it.
 *
 * <p>So the old registration is removed as soon as the controller is active and before there is a broker. The first
 * metadata that the broker sees has no leaders. Its own registration then elects the leaders of all partitions in one
 * batch of the metadata log, up to 10,000 of them, so that no coordinator sees some partitions with a leader and some
 * without. Nor has the registration to wait until the session of the old one ends.
 *
 * <p>Nothing takes leaders away while the broker runs: see the settings in {@link EmbeddedBroker}.
 */
final class KraftNode {
    private static final Logger LOG = LoggerFactory.getLogger(KraftNode.class);
    private static final Duration METADATA_TIMEOUT = Duration.ofSeconds(60);
    private static final long POLL_MILLIS = 2;

    private final int nodeId;
    private final SharedServer shared;
    private final ControllerServer controller;
    private final BrokerServer broker;

    KraftNode(KafkaConfig config) {
        nodeId = config.nodeId();
        Tuple2<MetaPropertiesEnsemble, BootstrapMetadata> directories =
                KafkaRaftServer.initializeLogDirs(config, LOG, "[KraftNode] ");
        Metrics metrics = Server$.MODULE$.initializeMetrics(
                config, Time.SYSTEM, directories._1().clusterId().orElseThrow());
        shared = new SharedServer(
                config,
                directories._1(),
                Time.SYSTEM,
                metrics,
                CompletableFuture.completedFuture(
                        QuorumConfig.parseVoterConnections(config.quorumConfig().voters())),
                QuorumConfig.parseBootstrapServers(config.quorumConfig().bootstrapServers()),
                new StandardFaultHandlerFactory(),
                ServerSocketFactory.INSTANCE);
        broker = new BrokerServer(shared);
        controller = new ControllerServer(shared, KafkaRaftServer.configSchema(), directories._2());
    }

    /** Returns when the broker serves requests. */
    void start() {
        controller.startup();
        removeOldRegistration();
        broker.startup();
    }

    /** The broker, for looking into its logs. */
    BrokerServer broker() {
        return broker;
    }

    private void removeOldRegistration() {
        long deadline = System.nanoTime() + METADATA_TIMEOUT.toNanos();
        // Whoever asks the loader of metadata gets nothing before it has read all that was written before this start.
        RegistrationWatch watch = new RegistrationWatch(nodeId);
        await(shared.loader().installPublishers(List.of(watch)), deadline);
        boolean removed = false;
        // A broker begins with the metadata that is published, which comes a moment after it is written.
        while (watch.registration() != OldRegistration.FENCED_OR_GONE) {
            if (System.nanoTime() - deadline > 0) {
                throw notRemoved("the controller does not remove it", null);
            }
            if (watch.registration() == OldRegistration.ACTIVE && !removed) {
                removed = unregister(deadline);
            }
            pause();
        }
        await(shared.loader().removeAndClosePublisher(watch), deadline);
    }

    /** Whether the controller was active already and did it. */
    private boolean unregister(long deadline) {
        ControllerRequestContext context = new ControllerRequestContext(
                new RequestHeaderData(), KafkaPrincipal.ANONYMOUS, OptionalLong.of(deadline));
        try {
            await(controller.controller().unregisterBroker(context, nodeId), deadline);
            return true;
        } catch (NotControllerException e) {
            return false;
        }
    }

    /**
     * Waits within the bound that all steps share.
     *
     * @param deadline on the clock of {@link System#nanoTime}, which is Kafka's too
     * @throws NotControllerException when the future failed with it
     */
    private static void await(CompletableFuture<?> future, long deadline) {
        try {
            future.get(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw notRemoved("the controller does not answer", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof NotControllerException inactive) {
                throw inactive;
            }
            throw new IllegalStateException("the broker's old registration cannot be removed: " + e.getCause(), e);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static IllegalStateException notRemoved(String why, @Nullable Throwable cause) {
        return new IllegalStateException(
                "the broker's old registration is still there after " + METADATA_TIMEOUT.toSeconds() + " s; " + why,
                cause);
    }

    private static void pause() {
        try {
            Thread.sleep(POLL_MILLIS);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static IllegalStateException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new IllegalStateException("interrupted while the broker started", e);
    }

    /** The state of this broker's last incarnation. */
    private enum OldRegistration {
        UNKNOWN,
        ACTIVE,
        /** A fenced broker leads nothing: the controller takes its leaderships away before it writes that it is fenced. */
        FENCED_OR_GONE
    }

    /** Follows the old registration in the published metadata. */
    private static final class RegistrationWatch implements MetadataPublisher {
        private final int nodeId;
        private volatile OldRegistration registration = OldRegistration.UNKNOWN;

        RegistrationWatch(int nodeId) {
            this.nodeId = nodeId;
        }

        OldRegistration registration() {
            return registration;
        }

        @Override
        public String name() {
            return "RegistrationWatch";
        }

        @Override
        public void onMetadataUpdate(MetadataDelta delta, MetadataImage image, LoaderManifest manifest) {
            @Nullable BrokerRegistration found = image.cluster().broker(nodeId);
            registration = found == null || found.fenced() ? OldRegistration.FENCED_OR_GONE : OldRegistration.ACTIVE;
        }
    }

    /** Stops in order; also what was started only in part. */
    void stop() {
        broker.shutdown();
        controller.shutdown();
        broker.awaitShutdown();
        controller.awaitShutdown();
    }
}
