package dev.puri.spring.boot;

import dev.puri.client.outbox.TraceContext;
import org.jspecify.annotations.Nullable;

/** Supplies the trace context of events that are added to the outbox. */
@FunctionalInterface
public interface TraceSource {
    /** Returns the trace context of the calling thread; null if there is none. */
    @Nullable
    TraceContext current();
}
