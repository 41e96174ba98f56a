package dev.puri.http;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A large response that is produced while it is sent, at the client's pace.
 *
 * <pre>
 * produce a piece (worker) ─▶ write a slice ─▶ accepted by the operating system ─▶ next slice, or next piece
 * </pre>
 *
 * One piece is in memory at a time, and no thread waits for the client. A response that cannot be completed is aborted:
 * its connection is closed, or its HTTP/2 stream reset, without the last chunk, so that no client takes it for
 * complete.
 */
public final class Download {
    /** Why a download ended. */
    public enum End {
        /** All of it was sent. */
        COMPLETE,
        /** The client disconnected. */
        GONE,
        /** The client read nothing for too long. */
        STALLED,
        /** The source cancelled it. */
        CANCELLED,
        /** The source failed, which is a bug. */
        FAILED
    }

    /** Produces the body. Called on worker threads, by one at a time. */
    public interface Source {
        /**
         * Returns the next piece, which may be empty, or null at the end. It should not take long, because other
         * downloads use the same thread.
         *
         * @throws CancellationException to abort the download
         */
        byte @Nullable [] next() throws Exception;

        /**
         * Whether the download should continue; if not, it is aborted. Called about once a second on the event loop,
         * also while the client reads nothing.
         */
        boolean isWanted();

        /** Called once, on the event loop, when the download has ended; {@link #next} is not called any more. */
        void ended(End end);
    }

    private static final Logger log = LoggerFactory.getLogger(Download.class);

    /** The size of a write; between two writes the event loop serves other requests. */
    private static final int SLICE_BYTES = 128 << 10;

    private static final Duration WANTED_CHECK_PERIOD = Duration.ofSeconds(1);
    private static final byte[] EMPTY = {};

    private final Exchange exchange;
    private final HttpServerResponse response;
    private final Duration stallTimeout;
    private final Source source;

    // Confined to the event loop.
    private byte[] piece = EMPTY;
    private int position;
    private boolean isProducing;
    private boolean isWriting;

    /** Number of slices that the operating system has accepted. */
    private long accepted;

    /** {@link #accepted} at the last stall check; -1 if no write was pending then. */
    private long acceptedAtLastCheck = -1;

    private @Nullable End end;
    private Runnable cancelStallCheck = () -> {};
    private Runnable cancelWantedCheck = () -> {};

    Download(Exchange exchange, HttpServerResponse response, Duration stallTimeout, Source source) {
        this.exchange = exchange;
        this.response = response;
        this.stallTimeout = stallTimeout;
        this.source = source;
    }

    void begin() {
        scheduleStallCheck();
        scheduleWantedCheck();
        produce();
    }

    /** Called when the connection is closed, or if no body follows. */
    void gone() {
        over(End.GONE);
    }

    private void produce() {
        isProducing = true;
        exchange.fromWorker(
                () -> {
                    byte[] next = source.next();
                    return () -> onProduced(next);
                },
                this::onFailure);
    }

    private void onProduced(byte @Nullable [] next) {
        isProducing = false;
        if (end != null) {
            source.ended(end);
        } else if (next == null) {
            exchange.ended(response.end());
            over(End.COMPLETE);
        } else {
            piece = next;
            position = 0;
            write();
        }
    }

    private void onFailure(Throwable cause) {
        isProducing = false;
        if (end != null) {
            source.ended(end);
        } else if (cause instanceof CancellationException) {
            abort(End.CANCELLED);
        } else {
            log.error("A download failed and is aborted", cause);
            abort(End.FAILED);
        }
    }

    private void write() {
        if (end != null) {
            return;
        }
        if (position == piece.length) {
            piece = EMPTY;
            produce();
            return;
        }
        int length = Math.min(SLICE_BYTES, piece.length - position);
        Buffer slice = Buffer.buffer(length).appendBytes(piece, position, length);
        position += length;
        isWriting = true;
        response.write(slice).onSuccess(written -> {
            isWriting = false;
            accepted++;
            exchange.later(this::write);
        });
    }

    private void scheduleStallCheck() {
        cancelStallCheck = exchange.after(stallTimeout, () -> {
            if (isWriting && accepted == acceptedAtLastCheck) {
                abort(End.STALLED);
                return;
            }
            acceptedAtLastCheck = isWriting ? accepted : -1;
            scheduleStallCheck();
        });
    }

    private void scheduleWantedCheck() {
        cancelWantedCheck = exchange.after(WANTED_CHECK_PERIOD, () -> {
            if (source.isWanted()) {
                scheduleWantedCheck();
            } else {
                abort(End.CANCELLED);
            }
        });
    }

    private void abort(End why) {
        over(why);
        exchange.abort();
    }

    private void over(End why) {
        if (end == null) {
            end = why;
            cancelStallCheck.run();
            cancelWantedCheck.run();
            piece = EMPTY;
            position = 0;
            if (!isProducing) {
                source.ended(why);
            }
        }
    }
}
