package dev.puri.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import dev.puri.client.IdentityPublisher;
import dev.puri.http.Settings;
import dev.puri.registry.RegistryStreams;
import dev.puri.resolver.Resolver;
import dev.puri.resolver.ResolverSettings;
import dev.puri.schemas.log.Event;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/**
 * How long after its publication an identity is found over HTTP, at a steady rate.
 *
 * <p>Open loop: each event's time is fixed before anything is sent, and its wait counts from then on,
 * so that a publisher held up by a slow registry does not hide the slowness. A {@link Seeker} asks the
 * resolver for every identity until it is there.
 */
final class Latency {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Configuration configuration;
    private final int rate;
    private final Duration duration;
    private final Consumer<String> progress;
    private final Creations creations = new Creations();
    private final OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    /**
     * @param rate events a second
     * @param duration of each measurement; a third of it comes before, to warm up
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
            try (RegistryStreams topology = RegistryStreams.start(configuration.of(broker));
                    Resolver resolver = Resolver.start(resolver(broker));
                    IdentityPublisher publisher = new IdentityPublisher(Map.of(
                            "bootstrap.servers",
                            broker.bootstrapServers(),
                            "schema.registry.url",
                            configuration.schemaRegistry()))) {
                await("the topology", topology::isReady);
                await("the resolver", resolver::isReady);
                Histogram with = measure(publisher, resolver.port(), true);
                Histogram without = measure(publisher, resolver.port(), false);
                return List.of(
                        figure("published to resolvable p50", with, 50),
                        figure("published to resolvable p99", with, 99),
                        figure("published to resolvable p50, without handles", without, 50),
                        figure("published to resolvable p99, without handles", without, 99));
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

    private static Figure figure(String name, Histogram micros, double percentile) {
        return Figure.alone(name, "ms", micros.getValueAtPercentile(percentile) / 1e3);
    }

    private ResolverSettings resolver(FreshBroker broker) {
        return Settings.read(
                ResolverSettings.class,
                Map.of(
                        "bootstrap.server",
                        broker.bootstrapServers(),
                        "schema.registry",
                        configuration.schemaRegistry(),
                        "state.dir",
                        broker.directory("resolver").toString(),
                        "drain.delay",
                        "0s",
                        "http.port",
                        "0"),
                Map.of(),
                null);
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
