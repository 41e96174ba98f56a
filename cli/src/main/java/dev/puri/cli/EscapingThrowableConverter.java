package dev.puri.cli;

import ch.qos.logback.classic.pattern.ThrowableProxyConverter;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.StackTraceElementProxy;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Logback converter that escapes the messages in stack traces as {@link EscapingConverter} escapes log messages. */
public final class EscapingThrowableConverter extends ThrowableProxyConverter {
    /** Called by Logback, whose configuration names this class. */
    public EscapingThrowableConverter() {}

    @Override
    protected String throwableProxyToString(IThrowableProxy thrown) {
        return super.throwableProxyToString(new Escaped(thrown));
    }

    /** A throwable whose messages are escaped. */
    private record Escaped(IThrowableProxy thrown) implements IThrowableProxy {
        private static @Nullable String escapedOrNull(@Nullable String message) {
            return message == null ? null : EscapingConverter.escaped(message);
        }

        @Override
        @SuppressWarnings("NullAway") // Logback is not annotated; a message may be null.
        public String getMessage() {
            return escapedOrNull(thrown.getMessage());
        }

        @Override
        @SuppressWarnings("NullAway")
        public String getOverridingMessage() {
            return escapedOrNull(thrown.getOverridingMessage());
        }

        @Override
        public String getClassName() {
            return thrown.getClassName();
        }

        @Override
        public StackTraceElementProxy[] getStackTraceElementProxyArray() {
            return thrown.getStackTraceElementProxyArray();
        }

        @Override
        public int getCommonFrames() {
            return thrown.getCommonFrames();
        }

        @Override
        @SuppressWarnings("NullAway")
        public IThrowableProxy getCause() {
            IThrowableProxy cause = thrown.getCause();
            return cause == null ? null : new Escaped(cause);
        }

        @Override
        @SuppressWarnings("NullAway")
        public IThrowableProxy[] getSuppressed() {
            IThrowableProxy[] suppressed = thrown.getSuppressed();
            return suppressed == null
                    ? null
                    : Arrays.stream(suppressed).map(Escaped::new).toArray(IThrowableProxy[]::new);
        }

        @Override
        public boolean isCyclic() {
            return thrown.isCyclic();
        }
    }
}
