package dev.puri.benchmarks.ingest;

import com.sun.management.OperatingSystemMXBean;
import dev.puri.benchmarks.data.Creations;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.ServerSettings;
import dev.puri.benchmarks.load.FixedRate;
import dev.puri.benchmarks.load.HttpSocket;
import dev.puri.benchmarks.load.Seeker;
import dev.puri.benchmarks.report.Timing;
import dev.puri.client.IdentityPublisher;
import dev.puri.registry.RegistryStreams;
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
 * Measures the time from the publication of an identity until a resolver finds it, at a steady rate and for a lone
 * client, and the processor time of an idle topology.
 *
 * <p>The steady load is an open loop: the time of each event is fixed before the run, and the measured wait starts at
 * this time. So a delay of the publisher by a slow registry is part of the wait. A {@link Seeker} polls the resolver
 * for every identity.
 */
record Latency(IngestBench bench, ServerSettings settings, Creations creations) {

    /** Time for the topology to become idle. */
    private static final Duration SETTLING = Duration.ofSeconds(2);

    private static final String LONE = "lone client ";
    private static final String PUBLISHED = "published to resolvable ";
    private static final long PUBLISH_TIMEOUT_SECONDS = 30;

    void measure() throws Exception {
        System.gc();
        try (FreshBroker broker = new FreshBroker()) {
            settings.declare(broker, Creations.collection(false));
            try (RegistryStreams topology = settings.startTopology(broker);
                    Resolver resolver = settings.startResolver(broker);
                    IdentityPublisher publisher = new IdentityPublisher(settings.client(broker))) {
                // The lone client comes first: a cold JVM might not keep up with the steady rate.
                add(LONE, measureLoneClient(publisher, resolver.port(), true), true);
                add(LONE, measureLoneClient(publisher, resolver.port(), false), false);
                add(PUBLISHED, measureSteadyRate(publisher, resolver.port(), true), true);
                add(PUBLISHED, measureSteadyRate(publisher, resolver.port(), false), false);
                TimeUnit.NANOSECONDS.sleep(SETTLING.toNanos());
                bench.add(
                        "idle topology, processor time",
                        "% of a core",
                        measureIdlePercentOfCore(settings.topology(broker).streamsApplicationId()));
            }
        }
    }

    private void add(String name, Histogram nanos, boolean withHandles) {
        bench.addPercentiles(name + "%s" + (withHandles ? "" : ", without handles"), "ms", nanos, 1e6, 50, 99);
    }

    private Histogram measureSteadyRate(IdentityPublisher publisher, int port, boolean withHandles) throws Exception {
        OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        long cpuStartNanos = process.getProcessCpuTime();
        long startNanos = System.nanoTime();
        try (Seeker seeker = Seeker.ofResolver(port, 10 * bench.rate)) {
            FixedRate.run(bench.rate, bench.seconds, seeker, (intendedNanos, counts) -> {
                Event event = creations.next(withHandles);
                var unused = publisher.publish(event).whenComplete((position, error) -> {
                    if (error == null) {
                        seeker.seek(event.puri(), intendedNanos, counts);
                    } else {
                        seeker.fail(error);
                    }
                });
            });
            double cores = (process.getProcessCpuTime() - cpuStartNanos) / (double) (System.nanoTime() - startNanos);
            bench.progress("%s handles: %s; %.2f cores busy"
                    .formatted(withHandles ? "with" : "without", seeker.describe(), cores));
            return seeker.waits();
        }
    }

    /**
     * Measures one client, without any other load. The client publishes an event, waits for it with a GET that has the
     * token, and then publishes the next event.
     *
     * @return the times from the acknowledgement of an event to the answer
     */
    private Histogram measureLoneClient(IdentityPublisher publisher, int port, boolean withHandles) throws Exception {
        Histogram nanos = Timing.histogram();
        long warmUpEndNanos =
                System.nanoTime() + Duration.ofSeconds(bench.seconds).toNanos() / 3;
        long endNanos = warmUpEndNanos + Duration.ofSeconds(bench.seconds).toNanos();
        try (HttpSocket resolver = new HttpSocket(port)) {
            while (System.nanoTime() < endNanos) {
                Event event = creations.next(withHandles);
                Position token =
                        publisher.publish(event).toCompletableFuture().get(PUBLISH_TIMEOUT_SECONDS, TimeUnit.SECONDS);
                long acknowledgedNanos = System.nanoTime();
                resolver.ask(HttpSocket.get("/v1/identities/" + event.puri() + "?at=" + token + "&wait=10s"), 200);
                if (acknowledgedNanos >= warmUpEndNanos) {
                    Timing.record(System.nanoTime() - acknowledgedNanos, nanos);
                }
            }
        }
        bench.progress("lone client, %s handles: %s; %,d events"
                .formatted(withHandles ? "with" : "without", Timing.describe(nanos), nanos.getTotalCount()));
        return nanos;
    }

    /** Measures for half of the duration; the threads of the broker do not count. */
    private double measureIdlePercentOfCore(String applicationId) throws InterruptedException {
        long cpuStartNanos = cpuNanos(applicationId);
        long startNanos = System.nanoTime();
        TimeUnit.MILLISECONDS.sleep(bench.seconds * 500L);
        return 100.0 * (cpuNanos(applicationId) - cpuStartNanos) / (System.nanoTime() - startNanos);
    }

    /** Returns the processor time of the threads whose names contain the application id. */
    private static long cpuNanos(String applicationId) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        List<ThreadInfo> streamsThreads = Stream.of(threads.getThreadInfo(threads.getAllThreadIds()))
                .filter(thread -> thread != null && thread.getThreadName().contains(applicationId))
                .toList();
        if (streamsThreads.isEmpty()) {
            throw new IllegalStateException("no thread has the application id " + applicationId + " in its name");
        }
        return streamsThreads.stream()
                .mapToLong(thread -> threads.getThreadCpuTime(thread.getThreadId()))
                .sum();
    }
}
