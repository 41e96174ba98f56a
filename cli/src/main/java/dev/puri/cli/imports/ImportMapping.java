package dev.puri.cli.imports;

import dev.puri.cli.io.FileErrors;
import dev.puri.schemas.log.Event;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.schema.FailsafeSchema;

/**
 * The mapping file: which rows are read, and which columns become pURI, uuid, owner, shard, handle and attributes.
 *
 * <pre>{@code
 * source: legacy-import           # the source of the events: the importer that the collections' declarations name
 * uuids: v8                       # how missing uuids are made from pURIs: v8 (default) or v5
 * inputs:
 *   - csv: tracks.csv             # or ndjson: FILE, or jdbc: URL with query, user, passwordVariable and driver
 *     puri: music:tracks:{id}
 *     owner: catalog
 *     shard: br-1
 *     uuid: "{uuid}"              # optional
 *     handle: "{handle}"          # optional; the word generated makes a handle from the pURI
 *     attributes:                 # optional
 *       title: "{title}"
 *   - export: rows.ndjson         # a file of GET /v1/export, which has all of this but the attributes
 * }</pre>
 *
 * @param source the source of the events
 * @param uuids how missing uuids are made
 */
record ImportMapping(String source, NameBasedIds.Version uuids, List<Input> inputs) {
    /** The value of {@code handle} for handles that are made from pURIs. */
    static final String GENERATED = "generated";

    private static final Set<String> KEYS = new TreeSet<>(Set.of("source", "uuids", "inputs"));
    private static final Set<String> INPUT_KEYS = new TreeSet<>(Set.of(
            "csv",
            "ndjson",
            "export",
            "jdbc",
            "query",
            "user",
            "passwordVariable",
            "driver",
            "puri",
            "uuid",
            "owner",
            "shard",
            "handle",
            "attributes"));

    /**
     * One file or one query.
     *
     * @param rows where the rows come from
     * @param uuid null if uuids are made from pURIs
     * @param handle null for identities without handles, unless handles are generated
     * @param attributes templates by the attribute's name
     */
    record Input(
            RowSource.Origin rows,
            PuriTemplate puri,
            @Nullable Template uuid,
            Template owner,
            Template shard,
            @Nullable Template handle,
            boolean generatesHandles,
            Map<String, Template> attributes) {
        /** Returns the names of all columns that the templates use. */
        Set<String> columns() {
            Set<String> columns = identityColumns();
            attributes.values().forEach(template -> columns.addAll(template.columns()));
            return columns;
        }

        /** Returns the columns of all fields but the attributes. */
        Set<String> identityColumns() {
            Set<String> columns = new TreeSet<>(puri.columns());
            for (Template template : new Template[] {uuid, owner, shard, handle}) {
                if (template != null) {
                    columns.addAll(template.columns());
                }
            }
            return columns;
        }
    }

    /** Returns a name for each input. The name of inputs that would share one, as of one database, has their number. */
    List<String> inputNames() {
        List<String> names = inputs.stream().map(input -> input.rows().name()).toList();
        List<String> unique = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            String name = names.get(i);
            unique.add(Collections.frequency(names, name) == 1 ? name : name + " (inputs[" + i + "])");
        }
        return unique;
    }

    /**
     * Reads a mapping file. Paths in the file are relative to its folder.
     *
     * @throws ImportException if the file has mistakes; the message lists each mistake
     */
    static ImportMapping read(Path file) {
        @Nullable Object root;
        try {
            // The schema without types: each scalar is a text, so that 0815 or no stay as they are.
            LoadSettings settings = LoadSettings.builder()
                    .setLabel(file.toString())
                    .setSchema(new FailsafeSchema())
                    // The schema has no form for a field without a value, such as "shard:".
                    .setTagConstructors(Map.of(Tag.NULL, node -> ""))
                    .build();
            String yaml = Files.readString(file);
            // With this schema, snakeyaml-engine cannot load an empty document.
            root = yaml.lines().allMatch(line -> line.isBlank() || line.startsWith("#"))
                    ? null
                    : new Load(settings).loadFromString(yaml);
        } catch (YamlEngineException e) {
            throw new ImportException(file + ": not YAML: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new ImportException("the mapping file " + file + " cannot be read: " + FileErrors.reason(e), e);
        }
        Parser parser = new Parser(file);
        ImportMapping mapping = parser.parse(root);
        if (mapping == null || !parser.mistakes.isEmpty()) {
            throw new ImportException(String.join("\n", parser.mistakes));
        }
        return mapping;
    }

    /** Converts the tree of a file and collects all mistakes. */
    private static final class Parser {
        private final Path file;
        private final List<String> mistakes = new ArrayList<>();

        Parser(Path file) {
            this.file = file;
        }

        @Nullable
        ImportMapping parse(@Nullable Object root) {
            Map<String, Object> fields = mapping("", root, KEYS);
            String source = field("", fields, "source", true, Parser::sourceOfEvents);
            NameBasedIds.Version uuids = field("", fields, "uuids", false, NameBasedIds.Version::parse);
            List<Input> inputs = new ArrayList<>();
            if (fields.get("inputs") instanceof List<?> list && !list.isEmpty()) {
                for (int i = 0; i < list.size(); i++) {
                    Input input = input("inputs[" + i + "].", list.get(i));
                    if (input != null) {
                        inputs.add(input);
                    }
                }
            } else {
                mistake("inputs", "must list at least one input, as in \"- csv: tracks.csv\"");
            }
            return source == null
                    ? null
                    : new ImportMapping(source, uuids == null ? NameBasedIds.Version.V8 : uuids, inputs);
        }

        private static String sourceOfEvents(String text) {
            Event.requireSource("it", text);
            return text;
        }

        private @Nullable Input input(String path, @Nullable Object node) {
            Map<String, Object> fields = mapping(path, node, INPUT_KEYS);
            if (fields.containsKey("export")) {
                return export(path, fields);
            }
            RowSource.Origin rows = origin(path, fields);
            PuriTemplate puri = field(path, fields, "puri", true, PuriTemplate::parse);
            Template uuid = field(path, fields, "uuid", false, Template::new);
            Template owner = field(path, fields, "owner", true, Template::new);
            Template shard = field(path, fields, "shard", true, Template::new);
            Template handle = field(path, fields, "handle", false, Template::new);
            boolean generatesHandles = handle != null && handle.text().equals(GENERATED);
            if (uuid != null && uuid.columns().isEmpty()) {
                mistake(
                        path + "uuid",
                        "names no column, so all rows would have one uuid; without this field, uuids are made from pURIs");
            }
            if (handle != null && !generatesHandles && handle.columns().isEmpty()) {
                mistake(path + "handle", "names no column; for handles made from pURIs write " + GENERATED);
            }
            Map<String, Template> attributes = new LinkedHashMap<>();
            if (fields.containsKey("attributes")) {
                Map<String, Object> templates = mapping(path + "attributes.", fields.get("attributes"), null);
                if (templates.isEmpty() && fields.get("attributes") instanceof Map) {
                    mistake(path + "attributes", "is empty");
                }
                for (String name : templates.keySet()) {
                    Template template = field(path + "attributes.", templates, name, true, Template::new);
                    if (template != null) {
                        attributes.put(name, template);
                    }
                }
            }
            if (rows == null || puri == null || owner == null || shard == null) {
                return null;
            }
            return new Input(
                    rows, puri, uuid, owner, shard, generatesHandles ? null : handle, generatesHandles, attributes);
        }

        private @Nullable Input export(String path, Map<String, Object> fields) {
            String export = field(path, fields, "export", true, Function.identity());
            if (fields.size() > 1) {
                mistake(path + "export", "an export needs no other field, because its rows have all columns");
            }
            return export == null
                    ? null
                    : new Input(
                            new RowSource.Export(file.resolveSibling(export)),
                            PuriTemplate.parse("{puri}"),
                            new Template("{uuid}"),
                            new Template("{owner}"),
                            new Template("{shard}"),
                            new Template("{handle}"),
                            false,
                            Map.of());
        }

        private RowSource.@Nullable Origin origin(String path, Map<String, Object> fields) {
            String csv = field(path, fields, "csv", false, Function.identity());
            String ndjson = field(path, fields, "ndjson", false, Function.identity());
            String url = field(path, fields, "jdbc", false, Function.identity());
            if ((csv == null ? 0 : 1) + (ndjson == null ? 0 : 1) + (url == null ? 0 : 1) != 1) {
                mistake(path + "csv", "an input needs one of csv, ndjson, jdbc and export");
                return null;
            }
            String query = field(path, fields, "query", url != null, Parser::orderedQuery);
            String user = field(path, fields, "user", false, Function.identity());
            String passwordVariable = field(path, fields, "passwordVariable", false, Function.identity());
            String driver = field(path, fields, "driver", false, Function.identity());
            if (url == null) {
                if (query != null || user != null || passwordVariable != null || driver != null) {
                    mistake(path + "query", "query, user, passwordVariable and driver need jdbc");
                }
                return csv != null
                        ? new RowSource.Csv(file.resolveSibling(csv))
                        : new RowSource.Ndjson(file.resolveSibling(String.valueOf(ndjson)));
            }
            return query == null
                    ? null
                    : new RowSource.Jdbc(
                            url, query, user, passwordVariable, driver == null ? null : file.resolveSibling(driver));
        }

        private static String orderedQuery(String query) {
            if (!query.toLowerCase(Locale.ROOT).matches("(?s).*\\border\\s+by\\b.*")) {
                throw new IllegalArgumentException(
                        "needs ORDER BY a unique key: the first of two rows that claim the same name wins, and a second"
                                + " run must find the same one");
            }
            return query;
        }

        private <T> @Nullable T field(
                String path, Map<String, Object> fields, String key, boolean isRequired, Function<String, T> parse) {
            Object value = fields.get(key);
            if (value == null || value instanceof String text && text.isBlank()) {
                // An empty filter or mapping must not mean everything or nothing.
                if (isRequired || fields.containsKey(key)) {
                    mistake(path + key, fields.containsKey(key) ? "is empty" : "is missing");
                }
                return null;
            }
            if (!(value instanceof String text)) {
                mistake(path + key, "must be a text");
                return null;
            }
            try {
                return parse.apply(text);
            } catch (IllegalArgumentException e) {
                mistake(path + key, String.valueOf(e.getMessage()));
                return null;
            }
        }

        private Map<String, Object> mapping(String path, @Nullable Object node, @Nullable Set<String> knownKeys) {
            Map<String, Object> fields = new LinkedHashMap<>();
            if (!(node instanceof Map<?, ?> map)) {
                mistake(path.isEmpty() ? "the file" : path.substring(0, path.length() - 1), "must be a mapping");
                return fields;
            }
            map.forEach((key, value) -> {
                if (knownKeys != null && !knownKeys.contains(String.valueOf(key))) {
                    mistake(path + key, "is unknown; known: " + String.join(", ", knownKeys));
                } else {
                    fields.put(String.valueOf(key), value);
                }
            });
            return fields;
        }

        private void mistake(String path, String description) {
            mistakes.add(file + ": " + path + ": " + description);
        }
    }
}
