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
 * the connection closes, or the HTTP/2 stream is reset, without the last chunk. So no client takes an incomplete
 * response for a complete one.
 */
public final class Download {
    /** Why a download ended. */
    public enum End {
        /** The whole response was sent. */
        COMPLETE,
        /** The client disconnected. */
        GONE,
        /** The client read nothing for too long. */
        STALLED,
        /** The source cancelled the download. */
        CANCELLED,
        /** The source failed, which is a bug. */
        FAILED
    }

    /** Produces the body. Called on worker threads, by one thread at a time. */
    public interface Source {
        /**
         * Returns the next piece, which may be empty, or null at the end. Must not take long, because other downloads
         * use the same thread.
         *
         * @throws CancellationException to abort the download
         */
        byte @Nullable [] next() throws Exception;

        /**
         * Returns whether the download should continue; if false, the download is aborted. Called about once a second
         * on the event loop, also while the client reads nothing.
         */
        boolean isWanted();

        /** Called once, on the event loop, when the download has ended. {@link #next} is not called any more. */
        void ended(End end);
    }

    private static final Logger log = LoggerFactory.getLogger(Download.class);

    /** The size of a write. Between two writes the event loop serves other requests. */
    private static final int SLICE_BYTES = 128 << 10;

    private static final Duration WANTED_CHECK_PERIOD = Duration.ofSeconds(1);
    private static final byte[] EMPTY = {};

    private final Exchange exchange;
    private final HttpServerResponse response;
    private final Duration stallTimeout;
    private final Source source;

    // Confined to the event loop.
    private byte[] piece = EMPTY;
    private int piecePosition;
    private boolean isProducing;
    private boolean isWriting;

    /** The number of slices that the operating system has accepted. */
    private long acceptedSlices;

    /** {@link #acceptedSlices} at the last stall check; -1 if no write was pending then. */
    private long acceptedSlicesAtLastCheck = -1;

    private @Nullable End end;
    private Runnable cancelStallCheck = () -> {};
    private Runnable cancelWantedCheck = () -> {};

    Download(Exchange exchange, HttpServerResponse response, Duration stallTimeout, Source source) {
        this.exchange = exchange;
        this.response = response;
        this.stallTimeout = stallTimeout;
        this.source = source;
    }

    void start() {
        scheduleStallCheck();
        scheduleWantedCheck();
        produce();
    }

    /** Called when the connection is closed, or if no body follows. */
    void onDisconnect() {
        finish(End.GONE);
    }

    private void produce() {
        isProducing = true;
        exchange.runOnDownloadThread(
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
            exchange.onStreamWritten(response.end());
            finish(End.COMPLETE);
        } else {
            piece = next;
            piecePosition = 0;
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
        if (piecePosition == piece.length) {
            piece = EMPTY;
            produce();
            return;
        }
        int length = Math.min(SLICE_BYTES, piece.length - piecePosition);
        Buffer slice = Buffer.buffer(length).appendBytes(piece, piecePosition, length);
        piecePosition += length;
        isWriting = true;
        response.write(slice).onSuccess(written -> {
            isWriting = false;
            acceptedSlices++;
            exchange.runOnEventLoop(this::write);
        });
    }

    private void scheduleStallCheck() {
        cancelStallCheck = exchange.after(stallTimeout, () -> {
            if (isWriting && acceptedSlices == acceptedSlicesAtLastCheck) {
                abort(End.STALLED);
                return;
            }
            acceptedSlicesAtLastCheck = isWriting ? acceptedSlices : -1;
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

    private void abort(End reason) {
        finish(reason);
        exchange.abort();
    }

    /** Ends the download. If the source is producing a piece, its {@code ended} is called after that piece. */
    private void finish(End reason) {
        if (end == null) {
            end = reason;
            cancelStallCheck.run();
            cancelWantedCheck.run();
            piece = EMPTY;
            piecePosition = 0;
            if (!isProducing) {
                source.ended(reason);
            }
        }
    }
}
