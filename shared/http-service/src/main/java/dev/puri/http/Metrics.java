package dev.puri.http;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.charset.StandardCharsets;

/** The meters of a server and of its JVM. Serves {@code GET /metrics} in Prometheus' text format. */
public final class Metrics implements AutoCloseable {
    private static final String MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics garbageCollection = new JvmGcMetrics();

    public Metrics() {
        garbageCollection.bindTo(registry);
        new ClassLoaderMetrics().bindTo(registry);
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
    }

    /** Returns the registry, to which the server adds its own meters. */
    public MeterRegistry registry() {
        return registry;
    }

    /** Returns the route {@code GET /metrics}. */
    public Route route() {
        return Route.get(
                        "/metrics",
                        Scope.ADMIN,
                        exchange -> exchange.answerFromWorker(
                                200, MEDIA_TYPE, () -> registry.scrape().getBytes(StandardCharsets.UTF_8)))
                .ignoringUnknownQuery();
    }

    @Override
    public void close() {
        garbageCollection.close();
        registry.close();
    }
}
