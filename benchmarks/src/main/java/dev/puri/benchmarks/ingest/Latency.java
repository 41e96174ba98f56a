package dev.puri.benchmarks.ingest;

import com.sun.management.OperatingSystemMXBean;
import dev.puri.benchmarks.data.Creations;
import dev.puri.benchmarks.environment.Await;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.ServerSettings;
import dev.puri.benchmarks.load.FixedRate;
import dev.puri.benchmarks.load.HttpSocket;
import dev.puri.benchmarks.load.Seeker;
import dev.puri.benchmarks.report.Timing;
import dev.puri.client.IdentityPublisher;
import dev.puri.registry.RegistryStreams;
import dev.puri.registry.StreamsSettings;
import dev.puri.resolver.Resolver;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/**
 * Measures how long after its publication an identity is found over HTTP, at a steady rate and by a lone client, and
 * the processor time of a topology that has nothing to do.
 *
 * <p>Open loop: each event's time is fixed before anything is sent, and its wait counts from then on, so that a
 * publisher held up by a slow registry does not hide the slowness. A {@link Seeker} asks the resolver for every
 * identity until it is found.
 */
record Latency(IngestBench bench, ServerSettings settings, Creations creations) {
    private static final Duration STARTUP = Duration.ofSeconds(60);
    private static final Duration SETTLING = Duration.ofSeconds(2);
    private static final String LONE = "lone client ";
    private static final String PUBLISHED = "published to resolvable ";
    private static final long PUBLISH_SECONDS = 30;

    Latency(IngestBench bench, ServerSettings settings) {
        this(bench, settings, new Creations());
    }

    void measure() throws Exception {
        System.gc();
        try (FreshBroker broker = new FreshBroker()) {
            settings.declare(broker, Creations.collection(false));
            StreamsSettings streams = settings.topology(broker);
            try (RegistryStreams topology = RegistryStreams.start(streams);
                    Resolver resolver = Resolver.start(settings.resolver(broker));
                    IdentityPublisher publisher = new IdentityPublisher(settings.client(broker))) {
                Await.until("the topology", STARTUP, topology::isReady);
                Await.until("the resolver", STARTUP, resolver::isReady);
                // In this order: a JVM that has compiled nothing yet may not keep up with a steady rate at all.
                add(LONE, lone(publisher, resolver.port(), true), true);
                add(LONE, lone(publisher, resolver.port(), false), false);
                add(PUBLISHED, steady(publisher, resolver.port(), true), true);
                add(PUBLISHED, steady(publisher, resolver.port(), false), false);
                TimeUnit.NANOSECONDS.sleep(SETTLING.toNanos());
                bench.add(
                        "idle topology, processor time",
                        "% of a core",
                        idlePercentOfACore(streams.streamsApplicationId()));
            }
        }
    }

    private void add(String name, Histogram nanos, boolean withHandles) {
        bench.addPercentiles(name + "%s" + (withHandles ? "" : ", without handles"), "ms", nanos, 1e6, 50, 99);
    }

    private Histogram steady(IdentityPublisher publisher, int port, boolean withHandles) throws Exception {
        OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        long cpuStartNanos = process.getProcessCpuTime();
        long startNanos = System.nanoTime();
        try (Seeker seeker = Seeker.ofResolver(port, 10 * bench.rate)) {
            FixedRate.Result sent = FixedRate.run(bench.rate, Duration.ofSeconds(bench.seconds), (intendedNanos, counts) -> {
                Event event = creations.next(withHandles);
                var unused = publisher.publish(event).whenComplete((position, error) -> {
                    if (error == null) {
                        seeker.seek(event.puri(), intendedNanos, counts);
                    } else {
                        seeker.fail(error);
                    }
                });
            });
            seeker.awaitAll(sent.count());
            double cores = (process.getProcessCpuTime() - cpuStartNanos) / (double) (System.nanoTime() - startNanos);
            bench.progress("%s handles: %s; %.2f cores busy with all of it"
                    .formatted(withHandles ? "with" : "without", seeker.describe(), cores));
            return seeker.waits();
        }
    }

    /**
     * One client publishes an event, asks for it with the token, and publishes the next one when it has the answer.
     * Nobody else writes.
     *
     * @return the times from the acknowledgement to the answer
     */
    private Histogram lone(IdentityPublisher publisher, int port, boolean withHandles) throws Exception {
        Histogram nanos = Timing.histogram();
        long counted = System.nanoTime() + Duration.ofSeconds(bench.seconds).toNanos() / 3;
        long end = counted + Duration.ofSeconds(bench.seconds).toNanos();
        try (HttpSocket resolver = new HttpSocket(port)) {
            while (System.nanoTime() < end) {
                Event event = creations.next(withHandles);
                Position token = publisher.publish(event).toCompletableFuture().get(PUBLISH_SECONDS, TimeUnit.SECONDS);
                long acknowledged = System.nanoTime();
                resolver.ask(HttpSocket.get("/v1/identities/" + event.puri() + "?at=" + token + "&wait=10s"), 200);
                if (acknowledged >= counted) {
                    Timing.record(System.nanoTime() - acknowledged, nanos);
                }
            }
        }
        bench.progress("lone client, %s handles: %s; %,d events"
                .formatted(withHandles ? "with" : "without", Timing.describe(nanos), nanos.getTotalCount()));
        return nanos;
    }

    /** Measures for half of the duration; the broker's threads do not count. */
    private double idlePercentOfACore(String applicationId) throws InterruptedException {
        long cpu = cpuNanos(applicationId);
        long startNanos = System.nanoTime();
        TimeUnit.MILLISECONDS.sleep(bench.seconds * 500L);
        return 100.0 * (cpuNanos(applicationId) - cpu) / (System.nanoTime() - startNanos);
    }

    /** Returns the processor time of the threads whose names contain the application id. */
    private static long cpuNanos(String applicationId) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        List<ThreadInfo> named = Stream.of(threads.getThreadInfo(threads.getAllThreadIds()))
                .filter(thread -> thread != null && thread.getThreadName().contains(applicationId))
                .toList();
        if (named.isEmpty()) {
            throw new IllegalStateException("no thread is named after " + applicationId);
        }
        return named.stream()
                .mapToLong(thread -> threads.getThreadCpuTime(thread.getThreadId()))
                .sum();
    }
}
