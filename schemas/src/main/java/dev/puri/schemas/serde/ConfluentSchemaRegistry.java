package dev.puri.schemas.serde;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.schemas.serde.SchemaRegistryHttp.Response;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.apache.kafka.common.config.ConfigException;
import org.jspecify.annotations.Nullable;

/**
 * A client of a schema registry with Confluent's REST API. Other registries also implement this API, for example
 * Apicurio under {@code /apis/ccompat/v7}. The client accepts Confluent's configuration keys: {@code
 * schema.registry.url} (one or several URLs, separated by commas, which are tried one after the other), {@code
 * basic.auth.credentials.source}, {@code basic.auth.user.info}, user info in the URL, {@code bearer.auth.token}, {@code
 * http.connect.timeout.ms}, {@code http.read.timeout.ms}, {@code max.retries}, {@code retries.wait.ms}, {@code
 * retries.max.wait.ms} and {@code missing.id.cache.ttl.sec}.
 *
 * <p>I/O errors, 429 and 5xx are retried, at most {@code max.retries} times. An interrupt ends the wait for a retry
 * with Kafka's InterruptException. Messages contain the subject or schema id and the URL, but no credentials.
 *
 * <p>An id counts as unknown if the response contains Confluent's error code, or a schema that is not readable Avro. A
 * 404 without this code may come from a proxy or a wrong URL. It must not count as unknown, because events with an
 * unknown schema are refused for ever.
 */
public final class ConfluentSchemaRegistry implements SchemaRegistry {
    private static final int SUBJECT_NOT_FOUND = 40401;
    private static final int VERSION_NOT_FOUND = 40402;
    private static final int SCHEMA_NOT_FOUND = 40403;

    /**
     * A cache is cleared at this size. Registries normally have dozens of schemas, and the values of a topic use few of
     * them.
     */
    private static final int MAX_CACHE_SIZE = 1000;

    private final SchemaRegistryHttp http;
    private final Duration missingIdTtl;
    private final Map<Integer, Schema> schemasById = new ConcurrentHashMap<>();
    private final Map<SubjectSchema, Integer> idsBySchema = new ConcurrentHashMap<>();
    private final Map<Integer, MissingId> missingIds = new ConcurrentHashMap<>();

    private record SubjectSchema(String subject, Schema schema) {}

    private record MissingId(String message, long expiresAtNanos) {}

    /** A registered schema with its id and version. */
    public record Registered(int id, int version, Schema schema) {}

    private ConfluentSchemaRegistry(SchemaRegistrySettings settings) {
        this.http = new SchemaRegistryHttp(settings);
        this.missingIdTtl = settings.missingIdTtl();
    }

    /**
     * Creates a client.
     *
     * @param configs the configuration of a Kafka client; unrelated keys are ignored
     * @throws ConfigException if a key is missing, invalid or not supported
     */
    public static ConfluentSchemaRegistry create(Map<String, ?> configs) {
        return new ConfluentSchemaRegistry(SchemaRegistrySettings.of(configs));
    }

    @Override
    public int register(String subject, Schema schema) {
        return postSchema(path(subject) + "/versions", subject, schema);
    }

    @Override
    public int idOf(String subject, Schema schema) {
        return postSchema(path(subject), subject, schema);
    }

    /** Returns the id of a schema, from the cache or from the response to a POST. */
    private int postSchema(String path, String subject, Schema schema) {
        SubjectSchema key = new SubjectSchema(subject, schema);
        Integer cachedId = idsBySchema.get(key);
        if (cachedId != null) {
            return cachedId;
        }
        String what = "subject " + subject + " (" + schema.getFullName() + ")";
        Response response = send("POST", path, body(schema), what);
        int id = id(response, subject);
        clearedIfFull(idsBySchema).put(key, id);
        return id;
    }

    @Override
    public Schema byId(int id) {
        Schema cached = schemasById.get(id);
        return cached != null ? cached : fetch(id);
    }

    private Schema fetch(int id) {
        MissingId missing = missingIds.get(id);
        if (missing != null && System.nanoTime() - missing.expiresAtNanos() < 0) {
            throw new UnknownSchemaException(missing.message(), null);
        }
        String what = "schema id " + id;
        try {
            Response response = send("GET", "/schemas/ids/" + Integer.toUnsignedString(id), null, what);
            Schema schema = parse(response, what);
            clearedIfFull(schemasById).put(id, schema);
            missingIds.remove(id);
            return schema;
        } catch (UnknownSchemaException e) {
            // Cached, so that many records with this id do not cause many requests.
            clearedIfFull(missingIds)
                    .put(id, new MissingId(String.valueOf(e.getMessage()), System.nanoTime() + missingIdTtl.toNanos()));
            throw e;
        }
    }

    /**
     * Returns the latest schema of a subject. The result is not cached.
     *
     * @throws SchemaRegistryUnavailableException if the registry is unreachable after the retries, or refuses the
     *     request
     * @throws UnknownSchemaException if the subject has no schema
     */
    public Registered latest(String subject) {
        return version(subject, "latest");
    }

    /**
     * Returns the schema of one version of a subject. The result is not cached.
     *
     * @param version a number of {@link #versions}
     * @throws SchemaRegistryUnavailableException if the registry is unreachable after the retries, or refuses the
     *     request
     * @throws UnknownSchemaException if the subject does not have the version, or if it is not readable Avro
     */
    public Registered version(String subject, int version) {
        return version(subject, Integer.toString(version));
    }

    private Registered version(String subject, String version) {
        String what = "subject " + subject + (version.equals("latest") ? "" : ", version " + version);
        Response response = send("GET", path(subject) + "/versions/" + version, null, what);
        return new Registered(
                id(response, subject), response.body().path("version").asInt(), parse(response, what));
    }

    /**
     * Returns the versions of a subject, in ascending order and without deleted ones. The result is not cached.
     *
     * @throws SchemaRegistryUnavailableException if the registry is unreachable after the retries, or refuses the
     *     request
     * @throws UnknownSchemaException if the registry does not have the subject
     */
    public List<Integer> versions(String subject) {
        String what = "versions of subject " + subject;
        Response response = send("GET", path(subject) + "/versions", null, what);
        if (!response.body().isArray()) {
            throw new SchemaRegistryUnavailableException(
                    what + ": " + response.from() + " answered " + response.status() + " without versions", null);
        }
        List<Integer> versions = new ArrayList<>();
        response.body().forEach(version -> versions.add(version.asInt()));
        return List.copyOf(versions);
    }

    /**
     * Sets the compatibility level of a subject. Several clients may set the same level concurrently.
     *
     * @throws SchemaRegistryUnavailableException if the registry is unreachable after the retries, or refuses the
     *     request
     * @throws IncompatibleSchemaException if the registry refuses the request with status 409 or 422
     */
    public void setCompatibility(String subject, Compatibility level) {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("compatibility", level.name());
        String what = "compatibility of subject " + subject;
        Response response = http.send("PUT", "/config/" + urlEncoded(subject), body, what);
        // Apicurio answers 409 if another client creates the setting at the same moment.
        boolean isAlreadySet =
                response.status() == 409 && compatibility(subject).equals(level.name());
        if (!response.isSuccess() && !isAlreadySet) {
            throw toException(response, what);
        }
    }

    /**
     * Returns the compatibility level of a subject, or the registry's level if the subject has none. The name of the
     * level may be unknown to {@link Compatibility}.
     *
     * @throws SchemaRegistryUnavailableException if the registry is unreachable after the retries, or refuses the
     *     request
     * @throws IncompatibleSchemaException if the registry refuses the request with status 409 or 422
     * @throws UnknownSchemaException if the registry does not have the subject and answers with an error, as some do
     */
    public String compatibility(String subject) {
        String what = "compatibility of subject " + subject;
        Response response = send("GET", "/config/" + urlEncoded(subject) + "?defaultToGlobal=true", null, what);
        JsonNode level = response.body().path("compatibilityLevel");
        if (!level.isTextual()) {
            throw new SchemaRegistryUnavailableException(
                    what + ": " + response.from() + " answered " + response.status() + " without a level", null);
        }
        return level.asText();
    }

    @Override
    public void close() {
        http.close();
    }

    /**
     * Sends a request and returns the successful response.
     *
     * @param what name of the requested object, for messages
     */
    private Response send(String method, String path, @Nullable JsonNode body, String what) {
        Response response = http.send(method, path, body, what);
        if (!response.isSuccess()) {
            throw toException(response, what);
        }
        return response;
    }

    /** Returns the exception for a response that is not a success. */
    private static RuntimeException toException(Response response, String what) {
        String message = what + ": " + response.from() + " " + response.reason();
        int code = response.errorCode();
        if (code == SUBJECT_NOT_FOUND || code == VERSION_NOT_FOUND || code == SCHEMA_NOT_FOUND) {
            return new UnknownSchemaException(message, null);
        }
        if (response.status() == 409 || response.status() == 422) {
            return new IncompatibleSchemaException(message, null);
        }
        if (response.status() == 404) {
            message += " (is this the base URL of Confluent's API?)";
        }
        return new SchemaRegistryUnavailableException(message, null);
    }

    private static Schema parse(Response response, String what) {
        String type = response.body().path("schemaType").asText("AVRO");
        JsonNode text = response.body().path("schema");
        if (!text.isTextual()) {
            throw new SchemaRegistryUnavailableException(
                    what + ": " + response.from() + " answered " + response.status() + " without a schema", null);
        }
        if (!type.equals("AVRO")) {
            throw new UnknownSchemaException(what + " at " + response.from() + " is " + type + ", not Avro", null);
        }
        try {
            return new Schema.Parser().setValidateDefaults(false).parse(text.asText());
        } catch (RuntimeException e) {
            throw new UnknownSchemaException(
                    what + " at " + response.from()
                            + " cannot be read as an Avro schema (schemas with references are not supported): "
                            + e.getMessage(),
                    e);
        }
    }

    private static int id(Response response, String subject) {
        JsonNode id = response.body().path("id");
        if (!id.isInt()) {
            throw new SchemaRegistryUnavailableException(
                    "subject " + subject + ": " + response.from() + " answered " + response.status() + " without an id",
                    null);
        }
        return id.asInt();
    }

    /** Clears a cache of schemas if it is full, and returns it. */
    static <K, V> Map<K, V> clearedIfFull(Map<K, V> cache) {
        if (cache.size() >= MAX_CACHE_SIZE) {
            cache.clear();
        }
        return cache;
    }

    private static ObjectNode body(Schema schema) {
        return JsonNodeFactory.instance.objectNode().put("schema", schema.toString());
    }

    private static String path(String subject) {
        return "/subjects/" + urlEncoded(subject);
    }

    private static String urlEncoded(String subject) {
        return URLEncoder.encode(subject, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
