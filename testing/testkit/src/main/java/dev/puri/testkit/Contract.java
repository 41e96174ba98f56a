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
 * An HTTP client for tests that checks each request and response against the server's OpenAPI 3.1 description. The
 * description must contain the status, the media type, the headers and every member of the body. The server must refuse
 * requests that the description does not allow.
 */
public final class Contract {
    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    /** The response headers that the description must contain. The other headers belong to HTTP itself. */
    private static final List<String> DESCRIBED_HEADERS =
            List.of("Puri-Table-Lag", "Puri-Index-Lag", "Retry-After", "WWW-Authenticate", "Allow");

    private final HttpClient client;
    private final JsonNode description;
    private final SchemaRegistry schemas = SchemaRegistry.withDefaultDialect(
            SpecificationVersion.DRAFT_2020_12,
            registry -> registry.schemaRegistryConfig(
                    SchemaRegistryConfig.builder().formatAssertionsEnabled(true).build()));
    private final Map<JsonNode, Schema> compiledSchemas = new ConcurrentHashMap<>();

    /**
     * Creates a client with a description from the class path.
     *
     * @param resource e.g. {@code /openapi.json}
     */
    public Contract(HttpClient client, String resource) {
        this(client, read(resource));
    }

    /**
     * Creates a client with a description. Schemas of objects in the description are changed to refuse additional
     * members.
     */
    public Contract(HttpClient client, JsonNode description) {
        this.client = client;
        this.description = description;
        description.at("/components/schemas").forEach(Contract::refuseAdditionalMembers);
    }

    /** Reads a description from the class path. */
    public static JsonNode read(String resource) {
        try {
            return JSON.readTree(Contract.class.getResource(resource));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Clients must accept unknown members. Tests refuse them, so that no member of a response is left undescribed. */
    private static void refuseAdditionalMembers(JsonNode schema) {
        if (schema instanceof ObjectNode object && object.has("properties") && !object.has("additionalProperties")) {
            object.put("additionalProperties", false);
        }
        schema.forEach(Contract::refuseAdditionalMembers);
    }

    /**
     * Sends a request. The future completes with the response, or exceptionally if the request or the response violates
     * the description.
     */
    public CompletableFuture<HttpResponse<String>> sendAsync(HttpRequest request) {
        return client.sendAsync(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8))
                .thenApply(response -> {
                    check(request, response);
                    return response;
                });
    }

    /** Sends a request and waits for the response. Fails if the request or the response violates the description. */
    public HttpResponse<String> send(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<String> response =
                client.send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
        check(request, response);
        return response;
    }

    /**
     * Returns the described responses that lack a header although the 200 response of their operation has it. Each is
     * named by method, path and status.
     */
    public List<String> answersWithout(String header) {
        List<String> result = new ArrayList<>();
        description
                .path("paths")
                .properties()
                .forEach(path -> path.getValue().properties().forEach(operation -> {
                    JsonNode responses = operation.getValue().path("responses");
                    if (responses.path("200").path("headers").has(header)) {
                        responses.properties().forEach(response -> {
                            if (!response.getKey().equals("405")
                                    && !resolved(response.getValue())
                                            .path("headers")
                                            .has(header)) {
                                result.add(operation.getKey() + " " + path.getKey() + " " + response.getKey());
                            }
                        });
                    }
                }));
        return result;
    }

    private void check(HttpRequest request, HttpResponse<String> response) {
        String exchange = request.method() + " " + request.uri() + " → " + response.statusCode();
        JsonNode path = path(request.uri().getRawPath());
        JsonNode operation = path.path(
                request.method().equals("HEAD") ? "get" : request.method().toLowerCase(Locale.ROOT));
        if (operation.isMissingNode()) {
            assertThat(response.statusCode()).as(exchange).isEqualTo(path.isMissingNode() ? 404 : 405);
            for (JsonNode otherOperation : path) {
                checkResponse(exchange, otherOperation, response);
            }
            return;
        }
        checkResponse(exchange, operation, response);
        List<String> violations = violations(operation, request);
        if (!violations.isEmpty()) {
            assertThat(response.statusCode())
                    .as("%s, although the request is invalid: %s", exchange, violations)
                    .isBetween(400, 499);
        }
    }

    /** Returns the described path that a requested path matches, or a missing node. */
    private JsonNode path(String requestedPath) {
        JsonNode paths = description.path("paths");
        if (paths.has(requestedPath)) {
            return paths.path(requestedPath);
        }
        for (Map.Entry<String, JsonNode> candidate : paths.properties()) {
            int parameterStart = candidate.getKey().indexOf('{');
            if (parameterStart > 0
                    && requestedPath.length() > parameterStart
                    && requestedPath.startsWith(candidate.getKey().substring(0, parameterStart))
                    && requestedPath.indexOf('/', parameterStart) < 0) {
                return candidate.getValue();
            }
        }
        return paths.path(requestedPath);
    }

    private void checkResponse(String exchange, JsonNode operation, HttpResponse<String> response) {
        JsonNode responses = operation.path("responses");
        String status = Integer.toString(response.statusCode());
        JsonNode described =
                resolved(responses.has(status) ? responses.path(status) : responses.path(status.charAt(0) + "XX"));
        assertThat(described.isMissingNode()).as("%s is described", exchange).isFalse();
        for (String header : DESCRIBED_HEADERS) {
            response.headers().firstValue(header).ifPresent(value -> {
                JsonNode schema =
                        resolved(described.path("headers").path(header)).path("schema");
                assertThat(schema.isMissingNode())
                        .as("%s: %s is described", exchange, header)
                        .isFalse();
                assertThat(errors(schema, value(schema, List.of(value))))
                        .as("%s: %s: %s", exchange, header, value)
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
                .as("%s: %s is described", exchange, mediaType)
                .isFalse();
        if (mediaType.equals("application/json") || mediaType.endsWith("+json")) {
            checkJson(exchange, content, response.body());
        } else if (mediaType.equals("application/x-ndjson")) {
            response.body().lines().filter(line -> !line.isEmpty()).forEach(line -> checkJson(exchange, content, line));
        } else if (mediaType.equals("text/event-stream")) {
            response.body()
                    .lines()
                    .filter(line -> line.startsWith("data: "))
                    .forEach(line -> checkJson(exchange, content, line.substring("data: ".length())));
        }
    }

    private void checkJson(String exchange, JsonNode content, String text) {
        JsonNode body = parsed(text.getBytes(StandardCharsets.UTF_8));
        assertThat(body).as("%s: %s", exchange, text).isNotNull();
        assertThat(errors(content.path("schema"), Objects.requireNonNull(body)))
                .as("%s: %s", exchange, text)
                .isEmpty();
    }

    /** Returns a text for each part of a request that the description does not allow. */
    private List<String> violations(JsonNode operation, HttpRequest request) {
        List<String> violations = new ArrayList<>();
        Map<String, JsonNode> parameters = new LinkedHashMap<>();
        operation.path("parameters").forEach(parameter -> {
            if (parameter.path("in").asText().equals("query")) {
                parameters.put(parameter.path("name").asText(), parameter.path("schema"));
            }
        });
        query(request.uri()).forEach((name, values) -> {
            JsonNode schema = parameters.get(name);
            if (schema == null) {
                violations.add("no parameter " + name);
            } else {
                violations.addAll(errors(schema, value(schema, values)));
            }
        });
        byte[] bodyBytes = body(request);
        JsonNode schema = operation.at("/requestBody/content/application~1json/schema");
        if (!schema.isMissingNode()) {
            JsonNode body = parsed(bodyBytes);
            violations.addAll(body == null ? List.of("not JSON") : errors(schema, body));
        }
        return violations;
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

    /** Converts the texts of a header or query parameter to a JSON value of the type that its schema requires. */
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
        return compiledSchemas.computeIfAbsent(schema, this::compile).validate(value).stream()
                .map(Error::toString)
                .toList();
    }

    /** Compiles a schema together with the components that its references may name. */
    private Schema compile(JsonNode schema) {
        ObjectNode root = schema.deepCopy();
        root.set("components", description.path("components"));
        return schemas.getSchema(root);
    }

    private JsonNode resolved(JsonNode node) {
        return node.has("$ref") ? description.at(node.path("$ref").asText().substring(1)) : node;
    }

    /** Parses JSON; returns null if the bytes are not JSON. */
    private static @Nullable JsonNode parsed(byte[] json) {
        try {
            JsonNode parsed = JSON.readTree(json);
            return parsed.isMissingNode() ? null : parsed;
        } catch (IOException e) {
            return null;
        }
    }

    private static byte[] body(HttpRequest request) {
        HttpResponse.BodySubscriber<byte[]> collector = HttpResponse.BodySubscribers.ofByteArray();
        HttpRequest.BodyPublisher publisher = request.bodyPublisher().orElseGet(HttpRequest.BodyPublishers::noBody);
        publisher.subscribe(new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                collector.onSubscribe(subscription);
            }

            @Override
            public void onNext(ByteBuffer part) {
                collector.onNext(List.of(part));
            }

            @Override
            public void onError(Throwable failure) {
                collector.onError(failure);
            }

            @Override
            public void onComplete() {
                collector.onComplete();
            }
        });
        return collector.getBody().toCompletableFuture().join();
    }
}
