package dev.puri.schemas.serde;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.schemas.serde.RegistryHttp.Answer;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.apache.kafka.common.config.ConfigException;

/**
 * A schema registry by Confluent's REST API, which Apicurio ({@code /apis/ccompat/v7}) and others
 * speak too. It takes Confluent's configuration keys: {@code schema.registry.url} (several, separated
 * by commas, are tried in turn), {@code basic.auth.credentials.source}, {@code basic.auth.user.info},
 * user info in the URL, {@code bearer.auth.token}, {@code http.connect.timeout.ms}, {@code
 * http.read.timeout.ms}, {@code max.retries}, {@code retries.wait.ms}, {@code retries.max.wait.ms}
 * and {@code missing.id.cache.ttl.sec}.
 *
 * <p>I/O errors, 429 and 5xx are retried within the bound; waiting can be interrupted, which throws
 * Kafka's InterruptException. Messages name the subject or id and the URL, never a credential.
 *
 * <p>An unknown id is told from a wrong URL by Confluent's error code alone: a plain 404 may be a
 * proxy's, and an event must not be refused for good over a typing error.
 */
public final class ConfluentSchemaRegistry implements SchemaRegistry {
    private static final int SUBJECT_NOT_FOUND = 40401;
    private static final int VERSION_NOT_FOUND = 40402;
    private static final int SCHEMA_NOT_FOUND = 40403;

    /** Each cache is emptied at this size: real registries have dozens, and a bound is a bound. */
    private static final int MAX_CACHED = 1000;

    private final RegistryHttp http;
    private final Duration missingIdTtl;
    private final Map<Integer, Schema> schemas = new ConcurrentHashMap<>();
    private final Map<Registration, Integer> ids = new ConcurrentHashMap<>();
    private final Map<Integer, Missing> missing = new ConcurrentHashMap<>();

    private record Registration(String subject, Schema schema) {}

    private record Missing(String message, long untilNanos) {}

    /** A subject's schema under its id. */
    public record Registered(int id, int version, Schema schema) {}

    private ConfluentSchemaRegistry(RegistrySettings settings) {
        this.http = new RegistryHttp(settings);
        this.missingIdTtl = settings.missingIdTtl();
    }

    /**
     * @param configs a client's whole configuration; keys that are not the registry's are passed over
     * @throws ConfigException when a key is missing or wrong, or asks for what this class does not do
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
        Answer answer = http.send("POST", path, body(schema), what);
        if (!answer.ok()) {
            throw refused(answer, what);
        }
        int id = id(answer, subject);
        bounded(ids).put(registration, id);
        return id;
    }

    @Override
    public Schema byId(int id) {
        Schema known = schemas.get(id);
        return known != null ? known : fetch(id);
    }

    private Schema fetch(int id) {
        Missing recent = missing.get(id);
        if (recent != null && System.nanoTime() - recent.untilNanos() < 0) {
            throw new UnknownSchemaException(recent.message(), null);
        }
        String what = "schema id " + id;
        try {
            Answer answer = http.send("GET", "/schemas/ids/" + Integer.toUnsignedString(id), null, what);
            if (!answer.ok()) {
                throw refused(answer, what);
            }
            Schema schema = parse(answer, what);
            bounded(schemas).put(id, schema);
            missing.remove(id);
            return schema;
        } catch (UnknownSchemaException e) {
            // Without this, a flood of such records would be a flood of requests.
            bounded(missing)
                    .put(id, new Missing(String.valueOf(e.getMessage()), System.nanoTime() + missingIdTtl.toNanos()));
            throw e;
        }
    }

    /**
     * The subject's latest schema; not cached.
     *
     * @throws RegistryUnavailableException when the registry cannot be reached within the bound
     * @throws UnknownSchemaException when the subject has none
     */
    public Registered latest(String subject) {
        String what = "subject " + subject;
        Answer answer = http.send("GET", path(subject) + "/versions/latest", null, what);
        if (!answer.ok()) {
            throw refused(answer, what);
        }
        return new Registered(id(answer, subject), answer.body().path("version").asInt(), parse(answer, what));
    }

    /**
     * Sets what the registry asks of the subject's next schema.
     *
     * @throws RegistryUnavailableException when the registry cannot be reached within the bound, or
     *     refuses
     */
    public void setCompatibility(String subject, Compatibility level) {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("compatibility", level.name());
        String what = "compatibility of subject " + subject;
        Answer answer = http.send("PUT", "/config/" + encoded(subject), body, what);
        if (!answer.ok()) {
            throw refused(answer, what);
        }
    }

    /**
     * What the registry asks of the subject's next schema, by a name that {@link Compatibility} may not have;
     * the registry's own level when the subject has none.
     *
     * @throws RegistryUnavailableException when the registry cannot be reached within the bound, or
     *     refuses
     * @throws UnknownSchemaException when there is no such subject
     */
    public String compatibility(String subject) {
        String what = "compatibility of subject " + subject;
        Answer answer = http.send("GET", "/config/" + encoded(subject) + "?defaultToGlobal=true", null, what);
        if (!answer.ok()) {
            throw refused(answer, what);
        }
        JsonNode level = answer.body().path("compatibilityLevel");
        if (!level.isTextual()) {
            throw new RegistryUnavailableException(
                    what + ": " + answer.from() + " answered " + answer.status() + " without a level", null);
        }
        return level.asText();
    }

    @Override
    public void close() {
        http.close();
    }

    private static RuntimeException refused(Answer answer, String what) {
        String message = what + ": " + answer.from() + " " + answer.reason();
        int code = answer.errorCode();
        if (code == SUBJECT_NOT_FOUND || code == VERSION_NOT_FOUND || code == SCHEMA_NOT_FOUND) {
            return new UnknownSchemaException(message, null);
        }
        if (answer.status() == 409 || answer.status() == 422) {
            return new IncompatibleSchemaException(message, null);
        }
        if (answer.status() == 404) {
            message += " (is that the base of Confluent's API?)";
        }
        return new RegistryUnavailableException(message, null);
    }

    private static Schema parse(Answer answer, String what) {
        String type = answer.body().path("schemaType").asText("AVRO");
        JsonNode text = answer.body().path("schema");
        if (!text.isTextual()) {
            throw new RegistryUnavailableException(
                    what + ": " + answer.from() + " answered " + answer.status() + " without a schema", null);
        }
        if (!type.equals("AVRO")) {
            throw new UnknownSchemaException(what + " at " + answer.from() + " is " + type + ", not Avro", null);
        }
        try {
            return new Schema.Parser().setValidateDefaults(false).parse(text.asText());
        } catch (RuntimeException e) {
            throw new UnknownSchemaException(
                    what + " at " + answer.from() + " is no Avro schema that stands alone: " + e.getMessage(), e);
        }
    }

    private static int id(Answer answer, String subject) {
        JsonNode id = answer.body().path("id");
        if (!id.isInt()) {
            throw new RegistryUnavailableException(
                    "subject " + subject + ": " + answer.from() + " answered " + answer.status() + " without an id",
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
