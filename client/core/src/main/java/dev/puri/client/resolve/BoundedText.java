package dev.puri.client.resolve;

import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * Reads a UTF-8 body up to a maximum size. A longer body fails, so that a server that is not a resolver cannot fill the
 * memory.
 */
final class BoundedText implements BodySubscriber<String> {
    private final BodySubscriber<String> text = BodySubscribers.ofString(StandardCharsets.UTF_8);
    private final long maxBytes;
    private long byteCount;
    private Flow.@Nullable Subscription subscription;

    BoundedText(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    @Override
    public CompletionStage<String> getBody() {
        return text.getBody();
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        this.subscription = subscription;
        text.onSubscribe(subscription);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        buffers.forEach(buffer -> byteCount += buffer.remaining());
        if (byteCount <= maxBytes) {
            text.onNext(buffers);
            return;
        }
        if (subscription != null) {
            subscription.cancel();
        }
        text.onError(new IOException("the response has more than " + maxBytes + " bytes; is the server a resolver?"));
    }

    @Override
    public void onError(Throwable error) {
        text.onError(error);
    }

    @Override
    public void onComplete() {
        text.onComplete();
    }
}
