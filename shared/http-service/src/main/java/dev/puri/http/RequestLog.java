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
     * @param callerName the name of the caller, logged as {@code bearer}; never the token. Empty if it is unknown
     * @param durationNanos the time from the end of the request's headers to the response's headers
     */
    static void log(
            HttpServerRequest request,
            String listener,
            String callerName,
            @Nullable TraceContext trace,
            int status,
            int bytes,
            long durationNanos) {
        if (!LOG.isDebugEnabled()) {
            return;
        }
        LoggingEventBuilder line = LOG.atDebug()
                .addKeyValue("listener", listener)
                .addKeyValue("method", LogText.escape(request.method().name()))
                .addKeyValue("path", LogText.escape(request.path()))
                .addKeyValue("status", status)
                .addKeyValue("bytes", bytes)
                .addKeyValue("micros", durationNanos / 1000)
                .addKeyValue("protocol", request.version());
        if (!callerName.isEmpty()) {
            line = line.addKeyValue("bearer", LogText.escape(callerName));
        }
        if (trace != null) {
            line = line.addKeyValue(TraceContext.LOG_KEY, trace.traceId());
        }
        line.log("Answered");
    }
}
