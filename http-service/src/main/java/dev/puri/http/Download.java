package dev.puri.http;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A large answer that is made while it is sent, and no faster than the client takes it.
 *
 * <pre>
 * make a piece (worker) ─▶ write a slice ─▶ accepted by the operating system ─▶ next slice, or next piece
 * </pre>
 *
 * One piece is in memory at a time, and no thread waits for the client. An answer that cannot be completed is cut off: its
 * connection is closed, its HTTP/2 stream is reset, before the last chunk was sent. So no client takes it for a whole one.
 */
public final class Download {
    /** Why an answer is over. */
    public enum End {
        /** All of it was sent. */
        COMPLETE,
        /** The client has gone. */
        GONE,
        /** The client took nothing for too long. */
        STALLED,
        /** The source gave it up. */
        CANCELLED,
        /** The source failed, which is a bug. */
        FAILED
    }

    /** Makes an answer. Called on threads that may block, by one at a time. */
    public interface Source {
        /**
         * The next piece; null when there is no more. It may be empty, and should not take long: other downloads wait for the
         * thread.
         *
         * @throws CancellationException to have the answer cut off
         */
        byte @Nullable [] next() throws Exception;

        /**
         * Whether the answer is still to be sent; it is cut off when not. Asked about once a second on the event loop, also while
         * the client takes nothing.
         */
        boolean isWanted();

        /** The answer is over, and nothing is asked for any more. Called once, on the event loop. */
        void ended(End end);
    }

    private static final Logger log = LoggerFactory.getLogger(Download.class);

    /** Bytes that are written at once; between two writes the event loop serves others. */
    private static final int SLICE = 128 << 10;

    private static final Duration WANTED_CHECK = Duration.ofSeconds(1);
    private static final byte[] NOTHING = {};

    private final Exchange exchange;
    private final HttpServerResponse response;
    private final Duration patience;
    private final Source source;

    // Of the event loop alone.
    private byte[] piece = NOTHING;
    private int at;
    private boolean isMaking;
    private boolean isWriting;

    /** Slices that the operating system has accepted for the client. */
    private long accepted;

    /** The same at the last stall check; -1 if none was being written then. */
    private long acceptedBefore = -1;

    private @Nullable End end;
    private Runnable cancelStallCheck = () -> {};
    private Runnable cancelWantedCheck = () -> {};

    Download(Exchange exchange, HttpServerResponse response, Duration patience, Source source) {
        this.exchange = exchange;
        this.response = response;
        this.patience = patience;
        this.source = source;
    }

    void begin() {
        scheduleStallCheck();
        scheduleWantedCheck();
        make();
    }

    /** The client has gone, or nothing is to be sent to it. */
    void gone() {
        over(End.GONE);
    }

    private void make() {
        isMaking = true;
        exchange.fromWorker(
                () -> {
                    byte[] next = source.next();
                    return () -> made(next);
                },
                this::failed);
    }

    private void made(byte @Nullable [] next) {
        isMaking = false;
        if (end != null) {
            source.ended(end);
        } else if (next == null) {
            exchange.ended(response.end());
            over(End.COMPLETE);
        } else {
            piece = next;
            at = 0;
            write();
        }
    }

    private void failed(Throwable cause) {
        isMaking = false;
        if (end != null) {
            source.ended(end);
        } else if (cause instanceof CancellationException) {
            cutOff(End.CANCELLED);
        } else {
            log.error("An answer is cut off", cause);
            cutOff(End.FAILED);
        }
    }

    private void write() {
        if (end != null) {
            return;
        }
        if (at == piece.length) {
            piece = NOTHING;
            make();
            return;
        }
        int length = Math.min(SLICE, piece.length - at);
        Buffer slice = Buffer.buffer(length).appendBytes(piece, at, length);
        at += length;
        isWriting = true;
        response.write(slice).onSuccess(written -> {
            isWriting = false;
            accepted++;
            exchange.later(this::write);
        });
    }

    private void scheduleStallCheck() {
        cancelStallCheck = exchange.after(patience, () -> {
            if (isWriting && accepted == acceptedBefore) {
                cutOff(End.STALLED);
                return;
            }
            acceptedBefore = isWriting ? accepted : -1;
            scheduleStallCheck();
        });
    }

    private void scheduleWantedCheck() {
        cancelWantedCheck = exchange.after(WANTED_CHECK, () -> {
            if (source.isWanted()) {
                scheduleWantedCheck();
            } else {
                cutOff(End.CANCELLED);
            }
        });
    }

    private void cutOff(End why) {
        over(why);
        exchange.abort();
    }

    private void over(End why) {
        if (end == null) {
            end = why;
            cancelStallCheck.run();
            cancelWantedCheck.run();
            piece = NOTHING;
            at = 0;
            if (!isMaking) {
                source.ended(why);
            }
        }
    }
}
