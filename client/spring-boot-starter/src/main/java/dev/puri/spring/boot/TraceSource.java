package dev.puri.spring.boot;

import dev.puri.client.outbox.TraceContext;
import org.jspecify.annotations.Nullable;

/** Tells the trace to which an event belongs that is added to the outbox. */
@FunctionalInterface
public interface TraceSource {
    /** That of the calling thread; null when there is none. */
    @Nullable
    TraceContext current();
}
