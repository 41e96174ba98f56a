package dev.puri.spring.boot;

import dev.puri.client.outbox.TraceContext;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.propagation.Propagator;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Returns the trace context of the current span. Returns null if the application's propagator does not use W3C Trace
 * Context, the default of Spring Boot.
 */
final class MicrometerTraceSource implements TraceSource {
    private final Tracer tracer;
    private final Propagator propagator;

    MicrometerTraceSource(Tracer tracer, Propagator propagator) {
        this.tracer = tracer;
        this.propagator = propagator;
    }

    @Override
    public @Nullable TraceContext current() {
        Span span = tracer.currentSpan();
        if (span == null) {
            return null;
        }
        Map<String, String> headers = new HashMap<>();
        propagator.inject(span.context(), headers, (carrier, name, value) -> headers.put(name, value));
        String traceparent = headers.get("traceparent");
        return traceparent == null ? null : new TraceContext(traceparent, headers.get("tracestate"));
    }
}
