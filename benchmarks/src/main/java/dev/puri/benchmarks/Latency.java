package dev.puri.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import dev.puri.client.IdentityPublisher;
import dev.puri.registry.RegistryStreams;
import dev.puri.registry.StreamsSettings;
import dev.puri.resolver.Resolver;
import dev.puri.schemas.log.Event;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/**
 * Measures how long after its publication an identity is found over HTTP, at a steady rate and by a lone client.
 *
 * <p>Open loop: each event's time is fixed before anything is sent, and its wait counts from then on,
 * so that a publisher held up by a slow registry does not hide the slowness. A {@link Seeker} asks the
 * resolver for every identity until it is there.
 */
final class Latency {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SETTLING = Duration.ofSeconds(2);
    private static final String WITH = "";
    private static final String WITHOUT = ", without handles";

    private final Configuration configuration;
    private final int rate;
    private final Duration duration;
    private final Consumer<String> progress;
    private final Creations creations = new Creations();
    private final OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    /**
     * @param rate events a second
     * @param duration of each measurement, after a third of it to warm up
     */
    Latency(Configuration configuration, int rate, Duration duration, Consumer<String> progress) {
        this.configuration = configuration;
        this.rate = rate;
        this.duration = duration;
        this.progress = progress;
    }

    List<Figure> measure() throws Exception {
        System.gc();
        try (FreshBroker broker = FreshBroker.start()) {
            configuration.declare(broker, Creations.COLLECTION);
            StreamsSettings settings = configuration.of(broker);
            try (RegistryStreams topology = RegistryStreams.start(settings);
                    Resolver resolver = Resolver.start(configuration.ofResolver(broker));
                    IdentityPublisher publisher = new IdentityPublisher(Map.of(
                            "bootstrap.servers",
                            broker.bootstrapServers(),
                            "schema.registry.url",
                            configuration.schemaRegistry()))) {
                await("the topology", topology::isReady);
                await("the resolver", resolver::isReady);
                List<Figure> figures = new ArrayList<>();
                // In this order: a JVM that has compiled nothing yet may not get through a steady rate at all.
                addFigures(figures, "lone client", lone(publisher, resolver.port(), true), WITH);
                addFigures(figures, "lone client", lone(publisher, resolver.port(), false), WITHOUT);
                addFigures(figures, "published to resolvable", measure(publisher, resolver.port(), true), WITH);
                addFigures(figures, "published to resolvable", measure(publisher, resolver.port(), false), WITHOUT);
                TimeUnit.NANOSECONDS.sleep(SETTLING.toNanos());
                figures.add(Figure.alone(
                        "idle topology, processor time",
                        "% of a core",
                        IdleTopology.percentOfACore(settings.streamsApplicationId(), duration.dividedBy(2))));
                return figures;
            }
        }
    }

    private Histogram measure(IdentityPublisher publisher, int port, boolean withHandles) throws Exception {
        long periodNanos = Duration.ofSeconds(1).toNanos() / rate;
        long warmUp = duration.toSeconds() * rate / 3;
        long count = warmUp + duration.toSeconds() * rate;
        long cpuBegun = process.getProcessCpuTime();
        long begun = System.nanoTime();
        try (Seeker seeker = new Seeker(port, 10 * rate)) {
            for (long i = 0; i < count; i++) {
                long intended = begun + i * periodNanos;
                sleepUntil(intended);
                Event event = creations.next(withHandles);
                boolean counts = i >= warmUp;
                publisher.publish(event).whenComplete((position, error) -> {
                    if (error == null) {
                        seeker.seek(event.puri(), intended, counts);
                    } else {
                        seeker.fail(error);
                    }
                });
            }
            Sightings.Found found = seeker.awaitAll(count);
            double cores = (process.getProcessCpuTime() - cpuBegun) / (double) (System.nanoTime() - begun);
            progress.accept(("%s: %s ms; found late by the asking itself at most %s ms; %,d questions; "
                            + "%.2f cores busy with all of it; load average %s")
                    .formatted(
                            withHandles ? "with handles" : "without handles",
                            percentiles(found.waits()),
                            percentiles(found.overestimates()),
                            found.questions(),
                            cores,
                            Machine.load()));
            return found.waits();
        }
    }

    static void sleepUntil(long nanoTime) {
        for (long left = nanoTime - System.nanoTime(); left > 0; left = nanoTime - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    static String percentiles(Histogram micros) {
        return "p50 %.1f, p90 %.1f, p99 %.1f, p99.9 %.1f, max %.1f"
                .formatted(
                        micros.getValueAtPercentile(50) / 1e3,
                        micros.getValueAtPercentile(90) / 1e3,
                        micros.getValueAtPercentile(99) / 1e3,
                        micros.getValueAtPercentile(99.9) / 1e3,
                        micros.getMaxValue() / 1e3);
    }

    private Histogram lone(IdentityPublisher publisher, int port, boolean withHandles) throws Exception {
        Histogram micros = LoneClient.measure(publisher, port, creations, withHandles, duration);
        progress.accept("lone client, %s handles: %s ms; %,d events; load average %s"
                .formatted(
                        withHandles ? "with" : "without", percentiles(micros), micros.getTotalCount(), Machine.load()));
        return micros;
    }

    private static void addFigures(List<Figure> figures, String name, Histogram micros, String suffix) {
        for (int percentile : List.of(50, 99)) {
            figures.add(Figure.alone(
                    name + " p" + percentile + suffix, "ms", micros.getValueAtPercentile(percentile) / 1e3));
        }
    }

    static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException(what + " was not ready within " + PATIENCE.toSeconds() + " s");
            }
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
    }
}
