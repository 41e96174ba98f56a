package dev.puri.client;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Asks a resolver what has become of events. */
final class ResolverQuery implements AutoCloseable {
    /** Beyond the wait, for the way there and back. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** One result has a few hundred bytes, a problem a few thousand. */
    static final int MAX_BODY_BYTES = 64 * 1024;

    private static final String CLOSED = "the publisher was closed before the resolver had answered";

    private static final ObjectMapper JSON = new ObjectMapper();

    private final String url;
    private final @Nullable String bearer;
    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(PATIENCE).build();
    private final Set<CompletableFuture<Fate>> underWay = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /**
     * @param url of a resolver, with or without a slash at its end
     * @param bearer token of every request; null for none
     * @throws IllegalArgumentException when it is no URL
     */
    ResolverQuery(String url, @Nullable String bearer) {
        URI parsed = URI.create(url);
        if (parsed.getHost() == null) {
            throw new IllegalArgumentException("not a resolver's URL: " + url);
        }
        this.url = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
        this.bearer = bearer;
    }

    CompletionStage<Fate> await(Puri puri, Position token, Duration wait) {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create(url + "/v1/identities/" + encoded(puri.toString()) + "?at="
                                + encoded(token.toString()) + "&wait=" + wait.toMillis() + "ms"))
                .timeout(wait.plus(PATIENCE));
        if (bearer != null) {
            request.header("Authorization", "Bearer " + bearer);
        }
        CompletableFuture<Fate> fate = new CompletableFuture<>();
        underWay.add(fate);
        CompletableFuture<HttpResponse<String>> answer =
                http.sendAsync(request.build(), response -> new BoundedText(MAX_BODY_BYTES));
        // The request's own timeout ends with the headers.
        var unused = fate.orTimeout(wait.plus(PATIENCE.multipliedBy(2)).toMillis(), TimeUnit.MILLISECONDS)
                .whenComplete((settled, error) -> {
                    underWay.remove(fate);
                    answer.cancel(true);
                });
        var alike = answer.thenApply(ResolverQuery::fate).whenComplete((settled, error) -> {
            if (error == null) {
                fate.complete(settled);
            } else {
                fate.completeExceptionally(
                        error instanceof CompletionException && error.getCause() != null ? error.getCause() : error);
            }
        });
        if (closed) {
            fate.completeExceptionally(new IOException(CLOSED));
        }
        return fate.minimalCompletionStage();
    }

    /** Fails what is under way and frees the client's thread; on Java 17 the garbage collector does that. */
    @Override
    public void close() {
        closed = true;
        underWay.forEach(each -> each.completeExceptionally(new IOException(CLOSED)));
        if (http instanceof AutoCloseable closeable) {
            try {
                closeable.close();
            } catch (Exception e) {
                throw new IllegalStateException("an HTTP client does not close", e);
            }
        }
    }

    /** A body up to a bound; a longer one fails. */
    private static final class BoundedText implements BodySubscriber<String> {
        private final BodySubscriber<String> text = BodySubscribers.ofString(StandardCharsets.UTF_8);
        private final int maxBytes;
        private long bytes;
        private Flow.@Nullable Subscription subscription;

        BoundedText(int maxBytes) {
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
            buffers.forEach(buffer -> bytes += buffer.remaining());
            if (bytes <= maxBytes) {
                text.onNext(buffers);
                return;
            }
            if (subscription != null) {
                subscription.cancel();
            }
            text.onError(new IOException(
                    "the resolver's answer has more than " + maxBytes + " bytes; is it a resolver at all?"));
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

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static Fate fate(HttpResponse<String> answer) {
        return switch (answer.statusCode()) {
            // Not there any more, or gone on as another, is an answer that knows of the event too.
            case 200, 404, 410 -> verdict(answer).equals("") ? unexpected(answer) : new Fate.Settled();
            case 409 -> refused(answer);
            case 504 -> verdict(answer).equals("not-caught-up") ? new Fate.NotCaughtUp() : unexpected(answer);
            default -> unexpected(answer);
        };
    }

    private static Fate refused(HttpResponse<String> answer) {
        JsonNode body = body(answer);
        if (!body.path("verdict").asText().equals("refused")) {
            return unexpected(answer);
        }
        return new Fate.Refused(
                body.path("reason").asText(),
                body.path("detail").asText(null),
                body.path("holder").path("owner").asText(null),
                body.path("holder").path("shard").asText(null));
    }

    /** Empty when it is no result, such as a proxy's own 404. */
    private static String verdict(HttpResponse<String> answer) {
        return body(answer).path("verdict").asText("");
    }

    private static JsonNode body(HttpResponse<String> answer) {
        try {
            return JSON.readTree(answer.body());
        } catch (JacksonException e) {
            return JSON.missingNode();
        }
    }

    private static Fate unexpected(HttpResponse<String> answer) {
        String body = answer.body().strip();
        throw new IllegalStateException("the resolver answers " + answer.statusCode() + ": "
                + (body.length() > 300 ? body.substring(0, 300) + "…" : body));
    }
}
