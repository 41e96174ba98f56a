package dev.puri.client;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Asks a resolver what has become of events. */
final class ResolverQuery {
    /** Beyond the wait, for the way there and back. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final ObjectMapper JSON = new ObjectMapper();

    private final String url;
    private final @Nullable String bearer;
    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(PATIENCE).build();

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
        return http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString())
                .thenApply(ResolverQuery::fate);
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
