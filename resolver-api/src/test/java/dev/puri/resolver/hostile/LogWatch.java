package dev.puri.resolver.hostile;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.LoggerFactory;

/**
 * Checks every logged line in its file format, including that of each request: it must be one line,
 * it must not control a terminal, and no line of ours, of Vert.x or of Netty may be a warning.
 */
final class LogWatch extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private static final int MOST_KEPT = 20;

    private final PatternLayout layout = new PatternLayout();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final AtomicLong requests = new AtomicLong();
    private final Logger root;
    private final Logger http;
    private final Level levelBefore;

    LogWatch() {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        http = context.getLogger("dev.puri.http");
        levelBefore = http.getLevel();
        layout.setContext(context);
        layout.setPattern("%d %-5level [%thread] %logger %msg %kvp %X%nopex%n");
        layout.start();
        setContext(context);
        start();
        root.addAppender(this);
        // Logs a line for each request, only to this appender.
        http.setLevel(Level.DEBUG);
        http.setAdditive(false);
        http.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
        String line = layout.doLayout(event);
        if (event.getLoggerName().startsWith("dev.puri.http")) {
            requests.incrementAndGet();
        }
        boolean isOurs = event.getLoggerName().startsWith("dev.puri.")
                || event.getLoggerName().startsWith("io.vertx.")
                || event.getLoggerName().startsWith("io.netty.");
        boolean isForged = line.strip().chars().anyMatch(LogWatch::mayForge);
        boolean isWrong = isForged || (isOurs && event.getLevel().isGreaterOrEqual(Level.WARN));
        if (isWrong && wrong.size() < MOST_KEPT) {
            wrong.add(line
                    + (event.getThrowableProxy() == null
                            ? ""
                            : event.getThrowableProxy().getMessage()));
        }
    }

    private static boolean mayForge(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
            default -> false;
        };
    }

    /** Forbidden lines. */
    Queue<String> wrong() {
        return wrong;
    }

    /** The number of lines about requests. */
    long requests() {
        return requests.get();
    }

    @Override
    public void close() {
        root.detachAppender(this);
        http.detachAppender(this);
        http.setLevel(levelBefore);
        http.setAdditive(true);
        stop();
    }
}
