package dev.puri.client.declarations;

import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.collection.WriteMode;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.schema.CoreSchema;

/**
 * Reads a YAML file with declarations of namespaces and collections. The command {@code puri collections apply -f} and
 * the Maven goal {@code puri:generate} read the same file:
 *
 * <pre>{@code
 * namespaces:
 *   music: {ownsTopic: true}
 *   archive: {mode: READ_ONLY}
 * collections:
 *   - name: soundcloud:tracks
 *     prefix: trk             # prefix of handles, which cannot change later; default no handles
 *     owners: [catalog]       # services that may create identities; default all
 *     search: true            # default false; instead of true, how attributes are searched:
 *                             # search: {boost: {title: 3, artist: 2}, shown: [checksum]}
 *     public: true            # default false
 *     description: Songs, as uploaded
 *     retired: false          # default false
 *     mode: IMPORT            # default READ_WRITE; the other mode is READ_ONLY. Also a field of namespaces
 *     importer: legacy-import # in mode IMPORT, the source whose events are accepted
 * }</pre>
 *
 * <p>The file is parsed to a tree of nodes, because only nodes have line numbers. Unknown keys are mistakes, because
 * with a misspelt {@code prefix} the first identities of a collection would get no handles.
 */
public final class CollectionsFile {
    private static final List<String> TOP_KEYS = List.of("namespaces", "collections");
    private static final List<String> NAMESPACE_KEYS = List.of("ownsTopic", "mode", "importer");
    private static final List<String> SEARCH_KEYS = List.of("boost", "shown");
    private static final List<String> COLLECTION_KEYS =
            List.of("name", "prefix", "owners", "search", "public", "description", "retired", "mode", "importer");

    private final String file;
    private final List<Mistake> mistakes = new ArrayList<>();
    private final List<Declaration> declarations = new ArrayList<>();
    private final Map<String, Integer> linesByKey = new HashMap<>();

    private CollectionsFile(String file) {
        this.file = file;
    }

    private record Mistake(int line, String description) {}

    /** A file of declarations has mistakes. The message lists each mistake with its line. */
    public static final class InvalidFileException extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        private InvalidFileException(String file, List<Mistake> mistakes) {
            super(mistakes.stream()
                    .sorted(Comparator.comparingInt(Mistake::line))
                    .map(mistake -> file + ":" + mistake.line() + ": " + mistake.description())
                    .collect(Collectors.joining("\n")));
        }
    }

    /**
     * Reads a file of declarations.
     *
     * @param file name of the file, for messages
     * @return the declarations, in the order of the file
     * @throws InvalidFileException if the file has mistakes
     * @throws IOException if the text cannot be read
     */
    public static List<Declaration> read(String file, Reader text) throws IOException {
        StringWriter yaml = new StringWriter();
        text.transferTo(yaml);
        CollectionsFile parser = new CollectionsFile(file);
        parser.readRoot(yaml.toString());
        if (!parser.mistakes.isEmpty()) {
            throw new InvalidFileException(file, parser.mistakes);
        }
        return List.copyOf(parser.declarations);
    }

    private void readRoot(String yaml) {
        Node root;
        try {
            // In the core schema of YAML 1.2, yes, no and on are text and not booleans.
            root = new Compose(LoadSettings.builder()
                            .setLabel(file)
                            .setSchema(new CoreSchema())
                            .build())
                    .composeString(yaml)
                    .orElse(null);
        } catch (MarkedYamlEngineException e) {
            int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
            mistakes.add(new Mistake(line, "not YAML: " + e.getProblem()));
            return;
        } catch (YamlEngineException e) {
            mistakes.add(new Mistake(1, "not YAML: " + e.getMessage()));
            return;
        }
        if (root == null) {
            mistakes.add(new Mistake(1, "the file is empty; it must declare namespaces, collections or both"));
            return;
        }
        Map<String, Node> top = mapping(root, "the file", TOP_KEYS);
        Node namespaces = top.get("namespaces");
        if (namespaces != null) {
            readNamespaces(namespaces);
        }
        Node collections = top.get("collections");
        if (collections != null && !isNull(collections)) {
            readCollections(collections);
        }
    }

    private void readNamespaces(Node node) {
        mapping(node, "namespaces", null).forEach((name, value) -> {
            Map<String, Node> fields = mapping(value, "the namespace " + name, NAMESPACE_KEYS);
            boolean ownsTopic = booleanField(fields, "ownsTopic");
            WriteMode mode = mode(fields);
            add(value, () -> new Namespace(name, ownsTopic, mode));
        });
    }

    private void readCollections(Node node) {
        if (!(node instanceof SequenceNode list)) {
            mistake(node, "collections must be a list, each with \"- name: namespace:collection\"");
            return;
        }
        for (Node element : list.getValue()) {
            readCollection(element);
        }
    }

    private void readCollection(Node node) {
        Map<String, Node> fields = mapping(node, "a collection", COLLECTION_KEYS);
        Prefix prefix = optionalField(fields, "prefix", Prefix::parse);
        Set<Owner> owners = owners(fields.get("owners"));
        SearchedAttributes attributes = attributes(fields.get("search"));
        boolean search = attributes != null || booleanField(fields, "search");
        boolean isPublic = booleanField(fields, "public");
        boolean retired = booleanField(fields, "retired");
        String description = optionalField(fields, "description", Function.identity());
        WriteMode mode = mode(fields);
        Node nameNode = fields.get("name");
        String name = optionalField(fields, "name", Function.identity());
        if (nameNode == null || name == null) {
            if (node instanceof MappingNode && (nameNode == null || isNull(nameNode))) {
                mistake(node, "a collection needs a name, as in name: soundcloud:tracks");
            }
            return;
        }
        int colon = name.indexOf(':');
        if (colon < 0 || colon != name.lastIndexOf(':')) {
            mistake(nameNode, "name: " + name + " is not namespace:collection");
            return;
        }
        add(
                nameNode,
                () -> new Collection(
                        name.substring(0, colon),
                        name.substring(colon + 1),
                        prefix,
                        owners,
                        search,
                        attributes == null ? SearchedAttributes.DEFAULT : attributes,
                        isPublic,
                        description == null ? "" : description.strip(),
                        retired,
                        mode));
    }

    private WriteMode mode(Map<String, Node> fields) {
        String name = optionalField(fields, "mode", Function.identity());
        String importer = optionalField(fields, "importer", Function.identity());
        try {
            return WriteMode.of(name == null ? WriteMode.READ_WRITE.name() : name, importer);
        } catch (IllegalArgumentException e) {
            Node modeNode = fields.get("mode");
            mistake(modeNode == null ? Objects.requireNonNull(fields.get("importer")) : modeNode, e.getMessage());
            return WriteMode.READ_WRITE;
        }
    }

    /** Reads how the attributes of a collection are searched; null if the node is not a mapping. */
    private @Nullable SearchedAttributes attributes(@Nullable Node node) {
        if (!(node instanceof MappingNode)) {
            return null;
        }
        Map<String, Node> fields = mapping(node, "search", SEARCH_KEYS);
        Map<String, Integer> boost = new LinkedHashMap<>();
        Node boosts = fields.get("boost");
        if (boosts != null) {
            mapping(boosts, "boost", null).forEach((name, value) -> {
                Integer weight = parse(value, "the boost of " + name, CollectionsFile::boostWeight);
                if (weight != null) {
                    boost.put(name, weight);
                }
            });
        }
        Set<String> shown = new LinkedHashSet<>();
        Node names = fields.get("shown");
        if (names instanceof SequenceNode list) {
            for (Node element : list.getValue()) {
                String name = parse(element, "shown", Function.identity());
                if (name != null && !shown.add(name)) {
                    mistake(element, "shown: " + name + " appears twice");
                }
            }
        } else if (names != null && !isNull(names)) {
            mistake(names, "shown must be a list, as in shown: [checksum, size]");
        }
        try {
            return SearchedAttributes.of(boost, shown);
        } catch (IllegalArgumentException e) {
            mistake(node, e.getMessage());
            return SearchedAttributes.DEFAULT;
        }
    }

    private static Integer boostWeight(String text) {
        if (!text.matches("[0-9]{1,3}")) {
            throw new IllegalArgumentException("must be a whole number from " + SearchedAttributes.MIN_WEIGHT + " to "
                    + SearchedAttributes.MAX_WEIGHT + ", not " + text);
        }
        return Integer.valueOf(text);
    }

    private Set<Owner> owners(@Nullable Node node) {
        Set<Owner> owners = new LinkedHashSet<>();
        if (node == null || isNull(node)) {
            return owners;
        }
        if (!(node instanceof SequenceNode list)) {
            mistake(node, "owners must be a list, as in owners: [catalog, rights]");
            return owners;
        }
        for (Node element : list.getValue()) {
            Owner owner = parse(element, "owners", Owner::parse);
            if (owner != null && !owners.add(owner)) {
                mistake(element, "owners: " + owner + " appears twice");
            }
        }
        return owners;
    }

    private void add(Node node, Supplier<Declaration> createDeclaration) {
        try {
            Declaration declaration = createDeclaration.get();
            Integer firstLine = linesByKey.putIfAbsent(declaration.key(), line(node));
            if (firstLine != null) {
                mistake(node, declaration.key() + " is declared twice, first in line " + firstLine);
                return;
            }
            declarations.add(declaration);
        } catch (IllegalArgumentException e) {
            mistake(node, e.getMessage());
        }
    }

    /**
     * Returns the fields of a mapping. Unknown and repeated keys are omitted and reported as mistakes.
     *
     * @param description describes the mapping, for messages
     * @param allowedKeys allowed keys; null allows any key
     */
    private Map<String, Node> mapping(Node node, String description, @Nullable List<String> allowedKeys) {
        Map<String, Node> fields = new LinkedHashMap<>();
        if (isNull(node)) {
            return fields;
        }
        if (!(node instanceof MappingNode mapping)) {
            mistake(node, description + " must be a mapping, as in \"key: value\"");
            return fields;
        }
        for (NodeTuple field : mapping.getValue()) {
            if (!(field.getKeyNode() instanceof ScalarNode key)) {
                mistake(field.getKeyNode(), "a key of " + description + " must be a plain text");
            } else if (allowedKeys != null && !allowedKeys.contains(key.getValue())) {
                mistake(
                        key,
                        "unknown key \"" + key.getValue() + "\" in " + description + "; known: "
                                + String.join(", ", allowedKeys));
            } else if (fields.putIfAbsent(key.getValue(), field.getValueNode()) != null) {
                mistake(key, "\"" + key.getValue() + "\" appears twice in " + description);
            }
        }
        return fields;
    }

    private boolean booleanField(Map<String, Node> fields, String key) {
        Node node = fields.get(key);
        if (node == null || isNull(node)) {
            return false;
        }
        if (node instanceof ScalarNode scalar && node.getTag().equals(Tag.BOOL)) {
            return Boolean.parseBoolean(scalar.getValue());
        }
        mistake(
                node,
                key.equals("search")
                        ? "search must be true, false or how attributes are searched, as in {boost: {title: 3}}"
                        : key + " must be true or false");
        return false;
    }

    private <T> @Nullable T optionalField(Map<String, Node> fields, String key, Function<String, T> parse) {
        Node node = fields.get(key);
        return node == null || isNull(node) ? null : parse(node, key, parse);
    }

    private <T> @Nullable T parse(Node node, String key, Function<String, T> parse) {
        if (!(node instanceof ScalarNode scalar)) {
            mistake(node, key + " must be a plain text");
            return null;
        }
        try {
            return parse.apply(scalar.getValue());
        } catch (IllegalArgumentException e) {
            mistake(node, key + ": " + e.getMessage());
            return null;
        }
    }

    private static boolean isNull(Node node) {
        return node.getTag().equals(Tag.NULL);
    }

    private void mistake(Node node, @Nullable String description) {
        mistakes.add(new Mistake(line(node), String.valueOf(description)));
    }

    private static int line(Node node) {
        return node.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
    }
}
