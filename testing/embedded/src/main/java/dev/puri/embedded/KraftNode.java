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
 * A single broker with its controller. It is assembled like {@link KafkaRaftServer}, with one additional step between
 * the start of the controller and the start of the broker: it removes the broker's old registration.
 *
 * <p>The problem: After {@code kill -9}, and after {@code close} too, the metadata log still contains the previous
 * registration of this broker, with the broker as leader of every partition. A broker that starts with such metadata
 * loads its transaction coordinator at once. A moment later the controller ends the old registration, and all
 * partitions lose their leader. A coordinator that finds no leader for a partition assumes that the partition is
 * deleted. It then skips the markers of a transaction that it has decided to commit or abort, and marks the transaction
 * as complete (see Kafka's TransactionMarkerChannelManager). The partition has a hanging transaction from then on, and
 * read-committed consumers never read past it.
 *
 * <p>The solution: This class removes the old registration after the controller has become active and before the broker
 * starts. So the first metadata that the broker reads has no leaders. The broker's new registration elects the leaders
 * of all partitions, up to 10,000, in one batch of the metadata log, so no coordinator sees leaders for only some of
 * the partitions. The new registration also need not wait until the old session times out.
 *
 * <p>The settings in {@link EmbeddedBroker} ensure that no partition loses its leader while the broker runs.
 */
final class KraftNode {
    private static final Logger LOG = LoggerFactory.getLogger(KraftNode.class);
    private static final Duration METADATA_TIMEOUT = Duration.ofSeconds(60);
    private static final long POLL_MILLIS = 2;

    private final int nodeId;
    private final SharedServer sharedServer;
    private final ControllerServer controller;
    private final BrokerServer broker;

    KraftNode(KafkaConfig config) {
        nodeId = config.nodeId();
        Tuple2<MetaPropertiesEnsemble, BootstrapMetadata> propertiesAndBootstrap =
                KafkaRaftServer.initializeLogDirs(config, LOG, "[KraftNode] ");
        Metrics metrics = Server$.MODULE$.initializeMetrics(
                config, Time.SYSTEM, propertiesAndBootstrap._1().clusterId().orElseThrow());
        sharedServer = new SharedServer(
                config,
                propertiesAndBootstrap._1(),
                Time.SYSTEM,
                metrics,
                CompletableFuture.completedFuture(
                        QuorumConfig.parseVoterConnections(config.quorumConfig().voters())),
                QuorumConfig.parseBootstrapServers(config.quorumConfig().bootstrapServers()),
                new StandardFaultHandlerFactory(),
                ServerSocketFactory.INSTANCE);
        broker = new BrokerServer(sharedServer);
        controller = new ControllerServer(sharedServer, KafkaRaftServer.configSchema(), propertiesAndBootstrap._2());
    }

    /** Starts controller and broker, and returns when the broker serves requests. */
    void start() {
        controller.startup();
        removeOldRegistration();
        broker.startup();
    }

    /** Returns Kafka's broker object, for access to its internal state. */
    BrokerServer broker() {
        return broker;
    }

    private void removeOldRegistration() {
        long deadline = System.nanoTime() + METADATA_TIMEOUT.toNanos();
        // The loader calls publishers only after it has read all metadata that was written before this start.
        RegistrationObserver observer = new RegistrationObserver(nodeId);
        await(sharedServer.loader().installPublishers(List.of(observer)), deadline);
        boolean unregistered = false;
        // Waits until the removal is published and not only written, because the broker starts with published metadata.
        while (observer.registration() != OldRegistration.FENCED_OR_GONE) {
            if (System.nanoTime() - deadline > 0) {
                throw notRemoved("the controller does not remove it", null);
            }
            if (observer.registration() == OldRegistration.ACTIVE && !unregistered) {
                unregistered = unregister(deadline);
            }
            pause();
        }
        await(sharedServer.loader().removeAndClosePublisher(observer), deadline);
    }

    /** Unregisters the broker; returns false if the controller is not active yet. */
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
     * Waits for a future until a deadline.
     *
     * @param deadline the common deadline of all steps, as {@link System#nanoTime}, which Kafka uses too
     * @throws NotControllerException if the future fails with it
     */
    private static void await(CompletableFuture<?> future, long deadline) {
        try {
            future.get(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw notRemoved("the controller does not respond", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof NotControllerException inactive) {
                throw inactive;
            }
            throw new IllegalStateException("the broker's old registration cannot be removed: " + e.getCause(), e);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static IllegalStateException notRemoved(String reason, @Nullable Throwable cause) {
        return new IllegalStateException(
                "the broker's old registration still exists after " + METADATA_TIMEOUT.toSeconds() + " s; " + reason,
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

    /** The state of the broker's previous registration. */
    private enum OldRegistration {
        /** No metadata is published yet. */
        UNKNOWN,
        ACTIVE,
        /**
         * A fenced broker leads no partition, because the controller takes the leaderships away before it writes that
         * the broker is fenced.
         */
        FENCED_OR_GONE
    }

    /** Reads the state of the old registration from published metadata. */
    private static final class RegistrationObserver implements MetadataPublisher {
        private final int nodeId;
        private volatile OldRegistration registration = OldRegistration.UNKNOWN;

        RegistrationObserver(int nodeId) {
            this.nodeId = nodeId;
        }

        OldRegistration registration() {
            return registration;
        }

        @Override
        public String name() {
            return "RegistrationObserver";
        }

        @Override
        public void onMetadataUpdate(MetadataDelta delta, MetadataImage image, LoaderManifest manifest) {
            @Nullable BrokerRegistration found = image.cluster().broker(nodeId);
            registration = found == null || found.fenced() ? OldRegistration.FENCED_OR_GONE : OldRegistration.ACTIVE;
        }
    }

    /** Stops the broker, then the controller. Either may have started only in part. */
    void stop() {
        broker.shutdown();
        controller.shutdown();
        broker.awaitShutdown();
        controller.awaitShutdown();
    }
}
