package dev.puri.client.resolve;

import java.net.Authenticator;
import java.net.CookieHandler;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.PushPromiseHandler;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** A client without a network, whose exchanges a test answers. */
final class FakeHttpClient extends HttpClient {
    /** The sent requests, in order. */
    final List<Exchange<?>> exchanges = new CopyOnWriteArrayList<>();

    /** The exception of every request; null to send requests. */
    volatile @Nullable RuntimeException refusal;

    /** Runs after each sent request. */
    volatile Runnable onSend = () -> {};

    /**
     * One request.
     *
     * @param end cancelled when nobody wants it any more
     */
    record Exchange<T>(HttpRequest request, BodyHandler<T> handler, CompletableFuture<HttpResponse<T>> end) {
        /** Begins an endless response. */
        Open<T> open() {
            BodySubscriber<T> body = handler.apply(new Info(200));
            body.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long buffers) {}

                @Override
                public void cancel() {}
            });
            return new Open<>(this, body);
        }

        /** Answers 200. */
        void answer(String text) {
            Open<T> open = open().tell(text);
            open.body.onComplete();
            end.complete(new Response<>(
                    request, open.body.getBody().toCompletableFuture().join()));
        }
    }

    /** A response that has begun. */
    record Open<T>(Exchange<T> exchange, BodySubscriber<T> body) {
        Open<T> tell(String text) {
            body.onNext(List.of(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8))));
            return this;
        }
    }

    private record Info(int statusCode) implements ResponseInfo {
        @Override
        public HttpHeaders headers() {
            return HttpHeaders.of(Map.of(), (name, value) -> true);
        }

        @Override
        public Version version() {
            return Version.HTTP_1_1;
        }
    }

    private record Response<T>(HttpRequest request, T body) implements HttpResponse<T> {
        @Override
        public int statusCode() {
            return 200;
        }

        @Override
        public Optional<HttpResponse<T>> previousResponse() {
            return Optional.empty();
        }

        @Override
        public HttpHeaders headers() {
            return HttpHeaders.of(Map.of(), (name, value) -> true);
        }

        @Override
        public Optional<SSLSession> sslSession() {
            return Optional.empty();
        }

        @Override
        public URI uri() {
            return request.uri();
        }

        @Override
        public Version version() {
            return Version.HTTP_1_1;
        }
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, BodyHandler<T> handler) {
        RuntimeException thrown = refusal;
        if (thrown != null) {
            throw thrown;
        }
        Exchange<T> exchange = new Exchange<>(request, handler, new CompletableFuture<>());
        exchanges.add(exchange);
        onSend.run();
        return exchange.end;
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(
            HttpRequest request, BodyHandler<T> handler, @Nullable PushPromiseHandler<T> pushes) {
        return sendAsync(request, handler);
    }

    @Override
    public <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Optional<CookieHandler> cookieHandler() {
        return Optional.empty();
    }

    @Override
    public Optional<Duration> connectTimeout() {
        return Optional.empty();
    }

    @Override
    public Redirect followRedirects() {
        return Redirect.NEVER;
    }

    @Override
    public Optional<ProxySelector> proxy() {
        return Optional.empty();
    }

    @Override
    public SSLContext sslContext() {
        throw new UnsupportedOperationException();
    }

    @Override
    public SSLParameters sslParameters() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Optional<Authenticator> authenticator() {
        return Optional.empty();
    }

    @Override
    public Version version() {
        return Version.HTTP_1_1;
    }

    @Override
    public Optional<Executor> executor() {
        return Optional.empty();
    }
}
