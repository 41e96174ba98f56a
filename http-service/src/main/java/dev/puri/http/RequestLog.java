package dev.puri.http;

import io.vertx.core.http.HttpServerRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/** Logs one line per request, at debug. */
final class RequestLog {
    private static final Logger LOG = LoggerFactory.getLogger("dev.puri.http.requests");

    private RequestLog() {}

    /**
     * @param bearer the name of the caller; empty if it is unknown
     * @param nanos time from the request's head to the response's head
     */
    static void answered(
            HttpServerRequest request,
            String listener,
            String bearer,
            @Nullable TraceContext trace,
            int status,
            int bytes,
            long nanos) {
        if (!LOG.isDebugEnabled()) {
            return;
        }
        LoggingEventBuilder line = LOG.atDebug()
                .addKeyValue("listener", listener)
                .addKeyValue("method", LogText.escape(request.method().name()))
                .addKeyValue("path", LogText.escape(request.path()))
                .addKeyValue("status", status)
                .addKeyValue("bytes", bytes)
                .addKeyValue("micros", nanos / 1000)
                .addKeyValue("protocol", request.version());
        if (!bearer.isEmpty()) {
            line = line.addKeyValue("bearer", LogText.escape(bearer));
        }
        if (trace != null) {
            line = line.addKeyValue(TraceContext.LOG_KEY, trace.traceId());
        }
        line.log("Answered");
    }
}
