package dev.puri.cli.io;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Limits how long a read may wait for the next bytes. The time-outs of {@link java.net.http.HttpClient} either end with
 * the headers or, from Java 26 on, cover the whole response. After a time-out the stream can only be closed.
 */
public final class TimedInputStream extends InputStream {
    private final InputStream in;
    private final Duration timeout;
    private final ExecutorService reader = Executors.newVirtualThreadPerTaskExecutor();

    /**
     * @param in a stream whose read ends if its thread is interrupted; closed by {@link #close}
     * @param timeout maximum time of a read
     */
    public TimedInputStream(InputStream in, Duration timeout) {
        this.in = in;
        this.timeout = timeout;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        Future<Integer> count = reader.submit(() -> in.read(bytes, offset, length));
        try {
            return count.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new IOException("no byte was received for " + timeout.toMillis() + " ms", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException();
        } finally {
            count.cancel(true);
        }
    }

    @Override
    public void close() throws IOException {
        reader.shutdownNow();
        in.close();
    }
}
