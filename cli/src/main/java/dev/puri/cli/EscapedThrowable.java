package dev.puri.cli;

import ch.qos.logback.classic.pattern.ThrowableProxyConverter;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.StackTraceElementProxy;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Logback converter that escapes the messages in stack traces, like {@link EscapedText}. */
public final class EscapedThrowable extends ThrowableProxyConverter {
    /** Called by Logback; logback.xml names the class. */
    public EscapedThrowable() {}

    @Override
    protected String throwableProxyToString(IThrowableProxy thrown) {
        return super.throwableProxyToString(new Escaped(thrown));
    }

    private record Escaped(IThrowableProxy thrown) implements IThrowableProxy {
        private static @Nullable String text(@Nullable String message) {
            return message == null ? null : EscapedText.escaped(message);
        }

        @Override
        @SuppressWarnings("NullAway") // Logback is not annotated; a message may be null.
        public String getMessage() {
            return text(thrown.getMessage());
        }

        @Override
        @SuppressWarnings("NullAway")
        public String getOverridingMessage() {
            return text(thrown.getOverridingMessage());
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
