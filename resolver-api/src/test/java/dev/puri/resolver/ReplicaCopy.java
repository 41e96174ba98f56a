package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.file.DataFileStream;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.specific.SpecificDatumReader;
import org.jspecify.annotations.Nullable;

/**
 * A copy of a resolver's rows, kept as {@code docs/export.md} describes. It may be killed at any point: the fields
 * represent its state on disk.
 */
final class ReplicaCopy {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http;

    /** Members of each row as text, by pURI. */
    private Map<String, Map<String, String>> rows = new HashMap<>();

    private @Nullable String cursor;
    private int resets;

    ReplicaCopy(HttpClient http) {
        this.http = http;
    }

    /** Ends as in a power failure. */
    static final class Killed extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    boolean needsExport() {
        return cursor == null;
    }

    int resets() {
        return resets;
    }

    Map<String, Map<String, String>> rows() {
        return rows;
    }

    /** The members of a row as text. */
    static Map<String, String> members(Puri puri, Row row) {
        Map<String, String> members = new TreeMap<>();
        members.put("puri", puri.toString());
        if (row.mergedInto() != null) {
            members.put("mergedInto", row.mergedInto().toString());
        }
        if (row.handle() != null) {
            members.put("handle", row.handle().text());
        }
        members.put("owner", row.owner().text());
        members.put("shard", row.shard().text());
        members.put("uuid", row.uuid().toString());
        members.put("status", row.status().name().toLowerCase(Locale.ROOT));
        members.put("epoch", Long.toString(row.epoch()));
        members.put("createdAt", time(row.createdAt()));
        members.put("changedAt", time(row.changedAt()));
        members.put("position", row.position().toString());
        return members;
    }

    private static String time(Instant instant) {
        return instant.toString().length() == 20 ? instant.toString().replace("Z", ".000Z") : instant.toString();
    }

    static Map<String, String> members(JsonNode row) {
        Map<String, String> members = new TreeMap<>();
        row.properties()
                .forEach(
                        member -> members.put(member.getKey(), member.getValue().asText()));
        return members;
    }

    /**
     * Takes an export.
     *
     * @param isKilled asked before each row
     * @throws IOException if it is cut off
     * @throws Killed if it was killed
     */
    void takeExport(URI resolver, boolean avro, BooleanSupplier isKilled) throws IOException, InterruptedException {
        HttpResponse<InputStream> response = http.send(
                HttpRequest.newBuilder(resolver.resolve("/v1/export?format=" + (avro ? "avro" : "ndjson")))
                        .build(),
                HttpResponse.BodyHandlers.ofInputStream());
        try (InputStream body = response.body()) {
            assertThat(response.statusCode()).isEqualTo(200);
            Map<String, Map<String, String>> copy = new HashMap<>();
            long count = avro ? avro(body, copy, isKilled) : lines(body, copy, isKilled);
            assertThat(count).isGreaterThanOrEqualTo(copy.size());
            rows = copy;
            cursor = response.headers().firstValue("Puri-Changes-From").orElseThrow();
        }
    }

    private static long lines(InputStream body, Map<String, Map<String, String>> copy, BooleanSupplier isKilled)
            throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
        long count = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            requireAlive(isKilled);
            JsonNode value = JSON.readTree(line);
            if (value.has("puri")) {
                copy.put(value.get("puri").asText(), members(value));
                count++;
            } else if (value.has("sha256")) {
                assertThat(value.get("rows").asLong()).isEqualTo(count);
                assertThat(lines.readLine()).isNull();
                return count;
            }
        }
        throw new IOException("no last line");
    }

    private static long avro(InputStream body, Map<String, Map<String, String>> copy, BooleanSupplier isKilled)
            throws IOException {
        try (DataFileStream<GenericRecord> file = new DataFileStream<>(body, new SpecificDatumReader<>())) {
            for (long count = 0; file.hasNext(); count++) {
                requireAlive(isKilled);
                GenericRecord record = file.next();
                if (record.get("row") instanceof IdentityRow row) {
                    Puri puri = Puri.parse(record.get("puri").toString());
                    copy.put(puri.toString(), members(puri, RowAvro.fromAvro(row)));
                } else {
                    assertThat(record.get("rows")).isEqualTo(count);
                    assertThat(file.hasNext()).isFalse();
                    return count;
                }
            }
        } catch (AvroRuntimeException e) {
            throw new IOException(e);
        }
        throw new IOException("no last record");
    }

    private static void requireAlive(BooleanSupplier isKilled) {
        if (isKilled.getAsBoolean()) {
            throw new Killed();
        }
    }

    /**
     * Follows the changes until the stream ends.
     *
     * @param isKilled asked at each line
     * @throws Killed if it was killed
     */
    void follow(URI resolver, BooleanSupplier isKilled) throws IOException, InterruptedException {
        HttpResponse<InputStream> response = http.send(
                HttpRequest.newBuilder(resolver.resolve("/v1/changes"))
                        .header("Last-Event-ID", String.valueOf(cursor))
                        .build(),
                HttpResponse.BodyHandlers.ofInputStream());
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
            assertThat(response.statusCode()).isEqualTo(200);
            Map<String, String> event = new HashMap<>();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                requireAlive(isKilled);
                if (!line.isEmpty()) {
                    int colon = line.indexOf(':');
                    event.put(
                            line.substring(0, colon), line.substring(colon + 1).strip());
                } else if (!apply(event)) {
                    return;
                } else {
                    event.clear();
                }
            }
        }
    }

    private boolean apply(Map<String, String> event) throws IOException {
        String type = event.getOrDefault("event", "");
        JsonNode data = JSON.readTree(event.getOrDefault("data", "{}"));
        switch (type) {
            case "changed" -> rows.put(data.get("puri").asText(), members(data));
            case "erased" -> rows.remove(data.get("puri").asText());
            case "reset" -> {
                cursor = null;
                resets++;
                return false;
            }
            default -> {}
        }
        cursor = event.getOrDefault("id", cursor);
        return true;
    }
}
