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
 * A single broker with its controller, assembled as {@link KafkaRaftServer} does it, with one step between the start of
 * the controller and that of the broker.
 *
 * <p>After {@code kill -9}, and after {@code close} too, the metadata log still contains the previous registration of
 * this broker, with the broker as leader of every partition. A broker that starts with such metadata loads its
 * transaction coordinator at once, although partitions lose their leader a moment later, when the controller ends the
 * old registration. A coordinator that finds no leader assumes that the partition is deleted: it skips the markers of a
 * transaction that it has decided to commit or abort, and marks the transaction as complete
 * (TransactionMarkerChannelManager). The partition then has a hanging transaction, and read-committed consumers never
 * get past it.
 *
 * <p>So this class removes the old registration when the controller is active and before the broker starts. The first
 * metadata that the broker reads has no leaders. Its new registration elects the leaders of all partitions, up to
 * 10,000, in one batch of the metadata log, so that no coordinator sees only some of them with leaders. The new
 * registration also need not wait for the old session to time out.
 *
 * <p>The settings in {@link EmbeddedBroker} ensure that no partition loses its leader while the broker runs.
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

    /** The broker, for access to its logs. */
    BrokerServer broker() {
        return broker;
    }

    private void removeOldRegistration() {
        long deadline = System.nanoTime() + METADATA_TIMEOUT.toNanos();
        // The loader calls publishers only after it has read all metadata that was written before this start.
        RegistrationObserver observer = new RegistrationObserver(nodeId);
        await(shared.loader().installPublishers(List.of(observer)), deadline);
        boolean removed = false;
        // The broker starts with published metadata, and publishing happens shortly after writing.
        while (observer.registration() != OldRegistration.FENCED_OR_GONE) {
            if (System.nanoTime() - deadline > 0) {
                throw notRemoved("the controller does not remove it", null);
            }
            if (observer.registration() == OldRegistration.ACTIVE && !removed) {
                removed = unregister(deadline);
            }
            pause();
        }
        await(shared.loader().removeAndClosePublisher(observer), deadline);
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
     * Waits for a future until the common deadline of all steps.
     *
     * @param deadline by {@link System#nanoTime}, which Kafka uses too
     * @throws NotControllerException if the future fails with it
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

    /** The state of the broker's previous registration. */
    private enum OldRegistration {
        UNKNOWN,
        ACTIVE,
        /**
         * A fenced broker leads no partition: the controller removes its leaderships before it writes that it is
         * fenced.
         */
        FENCED_OR_GONE
    }

    /** Observes the old registration in the published metadata. */
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

    /** Stops broker and controller in order, also if they have started only in part. */
    void stop() {
        broker.shutdown();
        controller.shutdown();
        broker.awaitShutdown();
        controller.awaitShutdown();
    }
}
