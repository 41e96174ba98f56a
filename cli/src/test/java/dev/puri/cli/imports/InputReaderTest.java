package dev.puri.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Without a batch for each failure, the import would wait for ever. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
final class InputReaderTest {
    private static final SourceRow ROW = new SourceRow.Values(Map.of("id", "1"));

    @Test
    void anErrorOfTheInputIsRethrown() throws Exception {
        Error error = new NoClassDefFoundError("a class of the driver");
        try (InputReader reader = new InputReader(new FailingSource(2, error), 2)) {
            assertThat(reader.next()).containsExactly(ROW, ROW);
            assertThatThrownBy(reader::next).isSameAs(error);
            assertThat(reader.next()).isEmpty();
        }
    }

    @Test
    void anExceptionOfTheInputIsRethrown() throws Exception {
        Exception exception = new SQLException("the query was cancelled");
        try (InputReader reader = new InputReader(new FailingSource(0, exception), 2)) {
            assertThatThrownBy(reader::next).isSameAs(exception);
        }
    }

    /** A database may hang. */
    @Test
    void aReadThatDoesNotEndIsNotAwaitedForEver() throws Exception {
        CountDownLatch reading = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        RowSource hanging = new RowSource() {
            @Override
            public @Nullable Set<String> columns() {
                return null;
            }

            @Override
            public @Nullable SourceRow next() {
                reading.countDown();
                try {
                    answer.await();
                    return null;
                } catch (InterruptedException e) {
                    throw new IllegalStateException("an interrupt would break the connection", e);
                }
            }

            @Override
            public void close() {
                closed.countDown();
            }
        };
        InputReader reader = new InputReader(hanging, 2, Duration.ofMillis(10));
        reading.await();
        reader.close();
        assertThat(closed.getCount()).as("nobody closes what is being read").isOne();
        answer.countDown();
        closed.await();
    }

    /** Has some rows and then fails. */
    private static final class FailingSource implements RowSource {
        private final Throwable failure;
        private int rowsLeft;

        FailingSource(int rows, Throwable failure) {
            this.rowsLeft = rows;
            this.failure = failure;
        }

        @Override
        public @Nullable Set<String> columns() {
            return null;
        }

        @Override
        public SourceRow next() throws SQLException {
            if (rowsLeft > 0) {
                rowsLeft--;
                return ROW;
            }
            if (failure instanceof Error error) {
                throw error;
            }
            throw (SQLException) failure;
        }

        @Override
        public void close() {}
    }
}
