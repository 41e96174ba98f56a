package dev.puri.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * A client for tests that checks each request and response against the server's OpenAPI 3.1 description. The
 * description must have the status, the media type, the headers and every member of the body; and the server must
 * refuse requests that the description forbids.
 */
public final class Contract {
    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    /** Headers of responses that the description must have; others belong to HTTP's framing. */
    private static final List<String> TELLING =
            List.of("Puri-Table-Lag", "Puri-Index-Lag", "Retry-After", "WWW-Authenticate", "Allow");

    private final HttpClient client;
    private final JsonNode description;
    private final SchemaRegistry schemas = SchemaRegistry.withDefaultDialect(
            SpecificationVersion.DRAFT_2020_12,
            registry -> registry.schemaRegistryConfig(
                    SchemaRegistryConfig.builder().formatAssertionsEnabled(true).build()));
    private final Map<JsonNode, Schema> made = new ConcurrentHashMap<>();

    /**
     * Reads a description on the class path.
     *
     * @param resource e.g. {@code /openapi.json}
     */
    public Contract(HttpClient client, String resource) {
        this(client, read(resource));
    }

    /** Takes a description. */
    public Contract(HttpClient client, JsonNode description) {
        this.client = client;
        this.description = description;
        description.at("/components/schemas").forEach(Contract::close);
    }

    /** A description on the class path. */
    public static JsonNode read(String resource) {
        try {
            return JSON.readTree(Contract.class.getResource(resource));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Readers have to bear with members that are new to them; tests must not, or none would ever be described. */
    private static void close(JsonNode schema) {
        if (schema instanceof ObjectNode object && object.has("properties") && !object.has("additionalProperties")) {
            object.put("additionalProperties", false);
        }
        schema.forEach(Contract::close);
    }

    /** Sends a request; completes with the answer, or exceptionally when either breaks the contract. */
    public CompletableFuture<HttpResponse<String>> sendAsync(HttpRequest request) {
        return client.sendAsync(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8))
                .thenApply(response -> {
                    check(request, response);
                    return response;
                });
    }

    /** The same at once. */
    public HttpResponse<String> send(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<String> response =
                client.send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
        check(request, response);
        return response;
    }

    /**
     * Answers that do not describe a header although others of their operation do: the routes that bear it do so
     * whatever their answer is.
     */
    public List<String> answersWithout(String header) {
        List<String> without = new ArrayList<>();
        description
                .path("paths")
                .properties()
                .forEach(path -> path.getValue().properties().forEach(operation -> {
                    JsonNode responses = operation.getValue().path("responses");
                    if (responses.path("200").path("headers").has(header)) {
                        responses.properties().forEach(answer -> {
                            if (!answer.getKey().equals("405")
                                    && !resolved(answer.getValue())
                                            .path("headers")
                                            .has(header)) {
                                without.add(operation.getKey() + " " + path.getKey() + " " + answer.getKey());
                            }
                        });
                    }
                }));
        return without;
    }

    private void check(HttpRequest request, HttpResponse<String> response) {
        String what = request.method() + " " + request.uri() + " → " + response.statusCode();
        JsonNode path = path(request.uri().getRawPath());
        JsonNode operation = path.path(
                request.method().equals("HEAD") ? "get" : request.method().toLowerCase(Locale.ROOT));
        if (operation.isMissingNode()) {
            assertThat(response.statusCode()).as(what).isEqualTo(path.isMissingNode() ? 404 : 405);
            for (JsonNode another : path) {
                checkAnswer(what, another, response);
            }
            return;
        }
        checkAnswer(what, operation, response);
        List<String> forbidden = forbidden(operation, request);
        if (!forbidden.isEmpty()) {
            assertThat(response.statusCode())
                    .as("%s, though: %s", what, forbidden)
                    .isBetween(400, 499);
        }
    }

    private JsonNode path(String asked) {
        JsonNode paths = description.path("paths");
        if (paths.has(asked)) {
            return paths.path(asked);
        }
        for (Map.Entry<String, JsonNode> candidate : paths.properties()) {
            int parameter = candidate.getKey().indexOf('{');
            if (parameter > 0
                    && asked.length() > parameter
                    && asked.startsWith(candidate.getKey().substring(0, parameter))
                    && asked.indexOf('/', parameter) < 0) {
                return candidate.getValue();
            }
        }
        return paths.path(asked);
    }

    private void checkAnswer(String what, JsonNode operation, HttpResponse<String> response) {
        JsonNode responses = operation.path("responses");
        String status = Integer.toString(response.statusCode());
        JsonNode described =
                resolved(responses.has(status) ? responses.path(status) : responses.path(status.charAt(0) + "XX"));
        assertThat(described.isMissingNode()).as("%s is described", what).isFalse();
        for (String header : TELLING) {
            response.headers().firstValue(header).ifPresent(value -> {
                JsonNode schema =
                        resolved(described.path("headers").path(header)).path("schema");
                assertThat(schema.isMissingNode())
                        .as("%s: %s is described", what, header)
                        .isFalse();
                assertThat(errors(schema, value(schema, List.of(value))))
                        .as("%s: %s: %s", what, header, value)
                        .isEmpty();
            });
        }
        if (response.body().isEmpty()) {
            return;
        }
        String mediaType = response.headers()
                .firstValue("Content-Type")
                .orElseThrow()
                .replaceFirst(";.*", "")
                .strip();
        JsonNode content = described.path("content").path(mediaType);
        assertThat(content.isMissingNode())
                .as("%s: %s is described", what, mediaType)
                .isFalse();
        if (mediaType.equals("application/json") || mediaType.endsWith("+json")) {
            checkJson(what, content, response.body());
        } else if (mediaType.equals("application/x-ndjson")) {
            response.body().lines().filter(line -> !line.isEmpty()).forEach(line -> checkJson(what, content, line));
        } else if (mediaType.equals("text/event-stream")) {
            response.body()
                    .lines()
                    .filter(line -> line.startsWith("data: "))
                    .forEach(line -> checkJson(what, content, line.substring("data: ".length())));
        }
    }

    private void checkJson(String what, JsonNode content, String text) {
        JsonNode body = parsed(text.getBytes(StandardCharsets.UTF_8));
        assertThat(body).as("%s: %s", what, text).isNotNull();
        assertThat(errors(content.path("schema"), Objects.requireNonNull(body)))
                .as("%s: %s", what, text)
                .isEmpty();
    }

    /** Parts of a request that the description does not allow. */
    private List<String> forbidden(JsonNode operation, HttpRequest request) {
        List<String> forbidden = new ArrayList<>();
        Map<String, JsonNode> parameters = new LinkedHashMap<>();
        operation.path("parameters").forEach(parameter -> {
            if (parameter.path("in").asText().equals("query")) {
                parameters.put(parameter.path("name").asText(), parameter.path("schema"));
            }
        });
        query(request.uri()).forEach((name, values) -> {
            JsonNode schema = parameters.get(name);
            if (schema == null) {
                forbidden.add("no parameter " + name);
            } else {
                forbidden.addAll(errors(schema, value(schema, values)));
            }
        });
        byte[] sent = body(request);
        JsonNode schema = operation.at("/requestBody/content/application~1json/schema");
        if (!schema.isMissingNode()) {
            JsonNode body = parsed(sent);
            forbidden.addAll(body == null ? List.of("not JSON") : errors(schema, body));
        }
        return forbidden;
    }

    private static Map<String, List<String>> query(URI uri) {
        Map<String, List<String>> query = new LinkedHashMap<>();
        if (uri.getRawQuery() != null) {
            for (String pair : uri.getRawQuery().split("&")) {
                String[] parts = pair.split("=", 2);
                query.computeIfAbsent(decoded(parts[0]), name -> new ArrayList<>())
                        .add(parts.length == 1 ? "" : decoded(parts[1]));
            }
        }
        return query;
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    /** The text of a header or parameter as the JSON that its schema speaks of. */
    private static JsonNode value(JsonNode schema, List<String> texts) {
        if (schema.path("type").asText().equals("array")) {
            ArrayNode array = JSON.createArrayNode();
            texts.forEach(array::add);
            return array;
        }
        String text = texts.get(0);
        return schema.path("type").asText().equals("integer") && text.matches("-?\\d{1,9}")
                ? IntNode.valueOf(Integer.parseInt(text))
                : TextNode.valueOf(text);
    }

    private List<String> errors(JsonNode schema, JsonNode value) {
        return made.computeIfAbsent(schema, this::schema).validate(value).stream()
                .map(Error::toString)
                .toList();
    }

    /** By itself, with all that its references lead to. */
    private Schema schema(JsonNode schema) {
        ObjectNode root = schema.deepCopy();
        root.set("components", description.path("components"));
        return schemas.getSchema(root);
    }

    private JsonNode resolved(JsonNode node) {
        return node.has("$ref") ? description.at(node.path("$ref").asText().substring(1)) : node;
    }

    private static @Nullable JsonNode parsed(byte[] json) {
        try {
            JsonNode parsed = JSON.readTree(json);
            return parsed.isMissingNode() ? null : parsed;
        } catch (IOException e) {
            return null;
        }
    }

    private static byte[] body(HttpRequest request) {
        HttpResponse.BodySubscriber<byte[]> whole = HttpResponse.BodySubscribers.ofByteArray();
        HttpRequest.BodyPublisher publisher = request.bodyPublisher().orElseGet(HttpRequest.BodyPublishers::noBody);
        publisher.subscribe(new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                whole.onSubscribe(subscription);
            }

            @Override
            public void onNext(ByteBuffer part) {
                whole.onNext(List.of(part));
            }

            @Override
            public void onError(Throwable failure) {
                whole.onError(failure);
            }

            @Override
            public void onComplete() {
                whole.onComplete();
            }
        });
        return whole.getBody().toCompletableFuture().join();
    }
}
