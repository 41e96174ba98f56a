package dev.puri.schemas.serde;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.schemas.serde.RegistryHttp.Response;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.apache.kafka.common.config.ConfigException;

/**
 * A client of a schema registry with Confluent's REST API, which Apicurio ({@code /apis/ccompat/v7}) and others
 * implement too. It accepts Confluent's configuration keys: {@code schema.registry.url} (several, separated by commas,
 * are tried in turn), {@code basic.auth.credentials.source}, {@code basic.auth.user.info}, user info in the URL, {@code
 * bearer.auth.token}, {@code http.connect.timeout.ms}, {@code http.read.timeout.ms}, {@code max.retries}, {@code
 * retries.wait.ms}, {@code retries.max.wait.ms} and {@code missing.id.cache.ttl.sec}.
 *
 * <p>I/O errors, 429 and 5xx are retried a bounded number of times. Waiting can be interrupted, which throws Kafka's
 * InterruptException. Messages contain the subject or id and the URL, but no credentials.
 *
 * <p>An id counts as unknown only with Confluent's error code. A plain 404 may come from a proxy or a wrong URL, and
 * must not cause an event to be refused for ever.
 */
public final class ConfluentSchemaRegistry implements SchemaRegistry {
    private static final int SUBJECT_NOT_FOUND = 40401;
    private static final int VERSION_NOT_FOUND = 40402;
    private static final int SCHEMA_NOT_FOUND = 40403;

    /** Size at which a cache is cleared; registries normally have dozens of schemas. */
    private static final int MAX_CACHED = 1000;

    private final RegistryHttp http;
    private final Duration missingIdTtl;
    private final Map<Integer, Schema> schemas = new ConcurrentHashMap<>();
    private final Map<Registration, Integer> ids = new ConcurrentHashMap<>();
    private final Map<Integer, MissingId> missing = new ConcurrentHashMap<>();

    private record Registration(String subject, Schema schema) {}

    private record MissingId(String message, long expiresAtNanos) {}

    /** A registered schema with its id and version. */
    public record Registered(int id, int version, Schema schema) {}

    private ConfluentSchemaRegistry(RegistrySettings settings) {
        this.http = new RegistryHttp(settings);
        this.missingIdTtl = settings.missingIdTtl();
    }

    /**
     * Creates a client.
     *
     * @param configs the configuration of a Kafka client; unrelated keys are ignored
     * @throws ConfigException if a key is missing, invalid or not supported
     */
    public static ConfluentSchemaRegistry create(Map<String, ?> configs) {
        return new ConfluentSchemaRegistry(RegistrySettings.of(configs));
    }

    @Override
    public int register(String subject, Schema schema) {
        return idBy(path(subject) + "/versions", subject, schema);
    }

    @Override
    public int idOf(String subject, Schema schema) {
        return idBy(path(subject), subject, schema);
    }

    private int idBy(String path, String subject, Schema schema) {
        Registration registration = new Registration(subject, schema);
        Integer known = ids.get(registration);
        if (known != null) {
            return known;
        }
        String what = "subject " + subject + " (" + schema.getFullName() + ")";
        Response response = http.send("POST", path, body(schema), what);
        if (!response.ok()) {
            throw refused(response, what);
        }
        int id = id(response, subject);
        bounded(ids).put(registration, id);
        return id;
    }

    @Override
    public Schema byId(int id) {
        Schema known = schemas.get(id);
        return known != null ? known : fetch(id);
    }

    private Schema fetch(int id) {
        MissingId recent = missing.get(id);
        if (recent != null && System.nanoTime() - recent.expiresAtNanos() < 0) {
            throw new UnknownSchemaException(recent.message(), null);
        }
        String what = "schema id " + id;
        try {
            Response response = http.send("GET", "/schemas/ids/" + Integer.toUnsignedString(id), null, what);
            if (!response.ok()) {
                throw refused(response, what);
            }
            Schema schema = parse(response, what);
            bounded(schemas).put(id, schema);
            missing.remove(id);
            return schema;
        } catch (UnknownSchemaException e) {
            // Cached, so that many records with the id do not cause many requests.
            bounded(missing)
                    .put(id, new MissingId(String.valueOf(e.getMessage()), System.nanoTime() + missingIdTtl.toNanos()));
            throw e;
        }
    }

    /**
     * Returns the subject's latest schema; not cached.
     *
     * @throws RegistryUnavailableException if the registry is unreachable after the retries
     * @throws UnknownSchemaException if the subject has none
     */
    public Registered latest(String subject) {
        String what = "subject " + subject;
        Response response = http.send("GET", path(subject) + "/versions/latest", null, what);
        if (!response.ok()) {
            throw refused(response, what);
        }
        return new Registered(
                id(response, subject), response.body().path("version").asInt(), parse(response, what));
    }

    /**
     * Sets the subject's compatibility level.
     *
     * @throws RegistryUnavailableException if the registry is unreachable after the retries, or refuses
     */
    public void setCompatibility(String subject, Compatibility level) {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("compatibility", level.name());
        String what = "compatibility of subject " + subject;
        Response response = http.send("PUT", "/config/" + encoded(subject), body, what);
        if (!response.ok()) {
            throw refused(response, what);
        }
    }

    /**
     * Returns the subject's compatibility level, or the registry's if the subject has none. The name may not be one of
     * {@link Compatibility}.
     *
     * @throws RegistryUnavailableException if the registry is unreachable after the retries, or refuses
     * @throws UnknownSchemaException if there is no such subject
     */
    public String compatibility(String subject) {
        String what = "compatibility of subject " + subject;
        Response response = http.send("GET", "/config/" + encoded(subject) + "?defaultToGlobal=true", null, what);
        if (!response.ok()) {
            throw refused(response, what);
        }
        JsonNode level = response.body().path("compatibilityLevel");
        if (!level.isTextual()) {
            throw new RegistryUnavailableException(
                    what + ": " + response.from() + " answered " + response.status() + " without a level", null);
        }
        return level.asText();
    }

    @Override
    public void close() {
        http.close();
    }

    private static RuntimeException refused(Response response, String what) {
        String message = what + ": " + response.from() + " " + response.reason();
        int code = response.errorCode();
        if (code == SUBJECT_NOT_FOUND || code == VERSION_NOT_FOUND || code == SCHEMA_NOT_FOUND) {
            return new UnknownSchemaException(message, null);
        }
        if (response.status() == 409 || response.status() == 422) {
            return new IncompatibleSchemaException(message, null);
        }
        if (response.status() == 404) {
            message += " (is that the base of Confluent's API?)";
        }
        return new RegistryUnavailableException(message, null);
    }

    private static Schema parse(Response response, String what) {
        String type = response.body().path("schemaType").asText("AVRO");
        JsonNode text = response.body().path("schema");
        if (!text.isTextual()) {
            throw new RegistryUnavailableException(
                    what + ": " + response.from() + " answered " + response.status() + " without a schema", null);
        }
        if (!type.equals("AVRO")) {
            throw new UnknownSchemaException(what + " at " + response.from() + " is " + type + ", not Avro", null);
        }
        try {
            return new Schema.Parser().setValidateDefaults(false).parse(text.asText());
        } catch (RuntimeException e) {
            throw new UnknownSchemaException(
                    what + " at " + response.from() + " is no Avro schema that stands alone: " + e.getMessage(), e);
        }
    }

    private static int id(Response response, String subject) {
        JsonNode id = response.body().path("id");
        if (!id.isInt()) {
            throw new RegistryUnavailableException(
                    "subject " + subject + ": " + response.from() + " answered " + response.status() + " without an id",
                    null);
        }
        return id.asInt();
    }

    private static <K, V> Map<K, V> bounded(Map<K, V> cache) {
        if (cache.size() >= MAX_CACHED) {
            cache.clear();
        }
        return cache;
    }

    private static ObjectNode body(Schema schema) {
        return JsonNodeFactory.instance.objectNode().put("schema", schema.toString());
    }

    private static String path(String subject) {
        return "/subjects/" + encoded(subject);
    }

    private static String encoded(String subject) {
        return URLEncoder.encode(subject, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
