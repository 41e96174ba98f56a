package dev.puri.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.cli.verify.Check;
import dev.puri.cli.verify.Difference;
import dev.puri.cli.verify.Difference.Field;
import dev.puri.cli.verify.Difference.Kind;
import dev.puri.cli.verify.RegistryReader;
import dev.puri.cli.verify.VerifyException;
import dev.puri.schemas.log.Topics;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Compares the index with its topics. The search indexer does the comparison, but it has only hashes of the topics'
 * values. So this class reads the values of the differing keys from the topics.
 */
final class IndexCheck implements Check {
    /** Maximum number of keys whose values are in memory. */
    private static final int BATCH = 20_000;

    /** The index's name of the field {@code mergedInto}. */
    private static final String CANONICAL = "canonical";

    private final ApiClient indexer;
    private final RegistryReader registry;
    private final Path lines;

    /**
     * @param lines a file for the indexer's response, because the indexer does not wait while the topics are read;
     *     overwritten, and deleted at the end
     */
    IndexCheck(ApiClient indexer, RegistryReader registry, Path lines) {
        this.indexer = indexer;
        this.registry = registry;
        this.lines = lines;
    }

    @Override
    public String part() {
        return "index";
    }

    @Override
    public String copy() {
        return indexer.base().toString();
    }

    @Override
    public @Nullable Integer partition() {
        return null;
    }

    @Override
    public long records() {
        return 0;
    }

    @Override
    public Result run(Consumer<Difference> differences) {
        try {
            try {
                JsonNode counts = compare();
                reportAll(differences);
                long identities = counts.path("identities").asLong();
                long unsettled = counts.path("unsettled").asLong();
                return new Result(
                        identities + counts.path("documents").asLong(),
                        identities,
                        unsettled,
                        Note.ofChanged(unsettled));
            } finally {
                Files.deleteIfExists(lines);
            }
        } catch (CommandException e) {
            throw new VerifyException(String.valueOf(e.getMessage()), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VerifyException("interrupted", e);
        }
    }

    private JsonNode compare() throws IOException, InterruptedException {
        try (BufferedWriter writer = Files.newBufferedWriter(lines)) {
            return IndexVerifyRequest.run(indexer, line -> {
                if (line.json().has("difference")) {
                    try {
                        writer.write(line.text());
                        writer.newLine();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                }
            });
        }
    }

    private void reportAll(Consumer<Difference> differences) throws IOException {
        try (BufferedReader reader = Files.newBufferedReader(lines)) {
            List<JsonNode> batch = new ArrayList<>();
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                batch.add(Json.parse(line));
                if (batch.size() == BATCH) {
                    report(batch, differences);
                    batch.clear();
                }
            }
            report(batch, differences);
        }
    }

    private void report(List<JsonNode> lines, Consumer<Difference> differences) {
        Map<String, Map<String, Map<String, String>>> values = new HashMap<>();
        for (String topic : List.of(Topics.IDENTITIES, Topics.DOCUMENTS)) {
            Set<String> puris = lines.stream()
                    .filter(line -> topicOf(line).equals(topic))
                    .map(line -> line.path("puri").asText())
                    .collect(Collectors.toSet());
            values.put(topic, puris.isEmpty() ? Map.of() : registry.values(topic, puris));
        }
        for (JsonNode line : lines) {
            String puri = line.path("puri").asText();
            Map<String, Map<String, String>> ofTopic = values.getOrDefault(topicOf(line), Map.of());
            differences.accept(difference(line, puri, ofTopic.getOrDefault(puri, Map.of())));
        }
    }

    private static String topicOf(JsonNode line) {
        return line.path("kind").asText().equals("document") ? Topics.DOCUMENTS : Topics.IDENTITIES;
    }

    private Difference difference(JsonNode line, String puri, Map<String, String> expected) {
        Kind kind = switch (line.path("difference").asText()) {
            case "missing" -> Kind.MISSING;
            case "ghost" -> Kind.EXTRA;
            default -> Kind.DIFFERS;
        };
        Map<String, String> found = new LinkedHashMap<>();
        line.path("indexed")
                .properties()
                .forEach(field ->
                        found.put(topicName(field.getKey()), field.getValue().asText()));
        Set<String> names = new LinkedHashSet<>();
        line.path("fields").forEach(name -> names.add(topicName(name.asText())));
        if (kind != Kind.DIFFERS) {
            names.addAll(kind == Kind.MISSING ? expected.keySet() : found.keySet());
        }
        Map<String, Field> fields = new LinkedHashMap<>();
        names.forEach(name ->
                fields.put(name, new Field(kind == Kind.EXTRA ? null : expected.get(name), found.get(name))));
        return new Difference(
                part(),
                copy(),
                null,
                puri,
                null,
                kind,
                fields,
                line.path("kind").asText());
    }

    private static String topicName(String indexName) {
        return indexName.equals(CANONICAL) ? "mergedInto" : indexName;
    }
}
