package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchIndex;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The search indices in an OpenSearch cluster. An alias names the serving index. The cluster switches the alias
 * atomically.
 *
 * <pre>
 * puri-search            alias of the serving index
 * puri-search-building   alias of the unfinished index of a rebuild
 * puri-search-g7f3…      name of an index; the next start deletes an index that has neither of these aliases
 * puri-search-g7f3…-w    write alias of this index
 * </pre>
 *
 * All writes go to the write alias and require that it exists. So OpenSearch refuses a late write to a deleted index;
 * otherwise it would create a new index with this name. Only one indexer may write the indices of a serving alias.
 */
public final class OpenSearchStore implements IndexStore {
    private static final Logger LOG = LoggerFactory.getLogger(OpenSearchStore.class);
    private static final JsonNode TEMPLATE = template();

    private final ClusterClient cluster;
    private final OpenSearchSettings settings;
    private final CursorSeal seal;
    private final String servingAlias;
    private final String buildingAlias;
    private final Pattern indexNames;
    private @Nullable OpenSearchIndex servingIndex;
    private @Nullable OpenSearchIndex unfinishedIndex;

    /**
     * Creates a store. The constructor sends no request.
     *
     * @param seal encrypts cursors; instances behind one address need the same key
     * @throws IllegalArgumentException if the CA file cannot be read
     */
    public OpenSearchStore(OpenSearchSettings settings, CursorSeal seal) {
        this.settings = settings;
        this.seal = seal;
        cluster = new ClusterClient(settings);
        servingAlias = settings.opensearchIndex();
        buildingAlias = servingAlias + "-building";
        indexNames = Pattern.compile(Pattern.quote(servingAlias) + "-g[0-9a-f]{32}");
    }

    @Override
    public SearchIndex openServing() throws IndexUnavailableException {
        requireClosed(servingIndex);
        String name = indexOf(servingAlias).orElse(null);
        if (name == null || !isUsable(name)) {
            if (name != null) {
                LOG.warn("The index {} is deleted, and a new index is built from the topics", name);
            }
            name = findEmptyUnused();
            if (name == null) {
                name = create();
            }
            moveAlias(servingAlias, name);
        }
        OpenSearchIndex index = open(name);
        index.refresh();
        deleteUnusedIndices();
        servingIndex = index;
        return index;
    }

    @Override
    public @Nullable SearchIndex openUnfinished() throws IndexUnavailableException {
        requireClosed(unfinishedIndex);
        List<String> names = indicesOf(buildingAlias);
        if (names.isEmpty()) {
            return null;
        }
        String name = names.getFirst();
        // The cluster may move the alias late, when another index has it. Then nobody knows which index to continue.
        if (names.size() > 1 || !isUsable(name)) {
            for (String each : names) {
                delete(each);
            }
            return null;
        }
        OpenSearchIndex index = open(name);
        index.refresh();
        unfinishedIndex = index;
        return index;
    }

    @Override
    public SearchIndex createUnfinished() throws IndexUnavailableException {
        if (indexOf(buildingAlias).isPresent()) {
            throw new IllegalStateException("there is already an unfinished index");
        }
        String name = create();
        moveAlias(buildingAlias, name);
        OpenSearchIndex index = open(name);
        unfinishedIndex = index;
        return index;
    }

    @Override
    public void promote() throws IndexUnavailableException {
        OpenSearchIndex rebuiltIndex = unfinishedIndex;
        if (rebuiltIndex == null) {
            throw new IllegalStateException("there is no unfinished index");
        }
        moveAlias(servingAlias, rebuiltIndex.name());
        servingIndex = rebuiltIndex;
        unfinishedIndex = null;
    }

    @Override
    public boolean isServingUnchanged() throws IndexUnavailableException {
        String name = indexOf(servingAlias).orElse(null);
        return name != null && isNamed(servingIndex, name);
    }

    @Override
    public void drop(SearchIndex index) throws IndexUnavailableException {
        // Several objects may represent the same index, so this method compares names.
        if (!(index instanceof OpenSearchIndex dropped) || isNamed(servingIndex, dropped.name())) {
            throw new IllegalArgumentException("only a replaced or unfinished index can be dropped");
        }
        dropped.close();
        delete(dropped.name());
        OpenSearchIndex unfinished = unfinishedIndex;
        if (unfinished != null && isNamed(unfinished, dropped.name())) {
            unfinished.close();
            unfinishedIndex = null;
        }
    }

    private static boolean isNamed(@Nullable OpenSearchIndex index, String name) {
        return index != null && index.name().equals(name);
    }

    @Override
    public void close() {
        if (servingIndex != null) {
            servingIndex.close();
        }
        if (unfinishedIndex != null) {
            unfinishedIndex.close();
        }
        cluster.close();
    }

    private static void requireClosed(@Nullable OpenSearchIndex index) {
        if (index != null && index.isOpen()) {
            throw new IllegalStateException("the index " + index.name() + " is already open");
        }
    }

    private OpenSearchIndex open(String name) {
        return new OpenSearchIndex(cluster, name, writeAlias(name), seal);
    }

    private static String writeAlias(String index) {
        return index + "-w";
    }

    /** Returns the name of the index that an alias names. */
    private Optional<String> indexOf(String alias) throws IndexUnavailableException {
        List<String> indices = indicesOf(alias);
        if (indices.size() > 1) {
            throw new IllegalStateException("the alias " + alias + " names more than one index: " + indices);
        }
        return indices.stream().findFirst();
    }

    private List<String> indicesOf(String alias) throws IndexUnavailableException {
        List<String> indices = new ArrayList<>();
        aliasesByIndex().forEach((index, aliases) -> {
            if (aliases.contains(alias)) {
                indices.add(index);
            }
        });
        return indices;
    }

    /** Returns the aliases of each index of this store, by index name. */
    private Map<String, List<String>> aliasesByIndex() throws IndexUnavailableException {
        JsonNode response = cluster.sendWithWriteTimeout("GET", "/" + servingAlias + "-g*/_alias", null)
                .body();
        Map<String, List<String>> aliasesByIndex = new TreeMap<>();
        response.properties().forEach(index -> {
            if (indexNames.matcher(index.getKey()).matches()) {
                List<String> aliases = new ArrayList<>();
                index.getValue().path("aliases").fieldNames().forEachRemaining(aliases::add);
                aliasesByIndex.put(index.getKey(), aliases);
            }
        });
        return aliasesByIndex;
    }

    private boolean isUsable(String name) throws IndexUnavailableException {
        return usableCheckpoint(name) != null;
    }

    /**
     * Returns the checkpoint of an index that has the format of this version and a valid checkpoint, or is empty; null
     * for any other index. An index with entries and without a checkpoint is not usable, because nobody knows from
     * which topics the entries are, and which records they lack or exceed.
     */
    private @Nullable IndexCheckpoint usableCheckpoint(String name) throws IndexUnavailableException {
        JsonNode mappings = cluster.sendWithWriteTimeout("GET", "/" + name + "/_mapping", null)
                .body()
                .path(name)
                .path("mappings");
        if (!mappings.path("_meta").equals(TEMPLATE.path("mappings").path("_meta"))) {
            LOG.warn("The index {} cannot be used: it has another format", name);
            return null;
        }
        try (OpenSearchIndex index = open(name)) {
            IndexCheckpoint checkpoint = index.committedCheckpoint();
            LOG.info("The index {} has the checkpoint {}", name, checkpoint);
            if (checkpoint.topicIds().isEmpty() && hasEntries(index)) {
                LOG.warn("The index {} cannot be used: it has entries, but no checkpoint", name);
                return null;
            }
            return checkpoint;
        } catch (IllegalArgumentException e) {
            LOG.warn("The index {} cannot be used: {}", name, e.getMessage());
            return null;
        }
    }

    /**
     * Returns an empty index that is neither serving nor unfinished, or null if there is none. An earlier attempt
     * leaves one if the cluster creates it after the time-out. Without this, each attempt on a slow cluster would leave
     * one.
     */
    private @Nullable String findEmptyUnused() throws IndexUnavailableException {
        for (Map.Entry<String, List<String>> entry : aliasesByIndex().entrySet()) {
            IndexCheckpoint checkpoint = isInUse(entry.getValue()) ? null : usableCheckpoint(entry.getKey());
            if (checkpoint != null && checkpoint.topicIds().isEmpty()) {
                return entry.getKey();
            }
        }
        return null;
    }

    private boolean isInUse(List<String> aliases) {
        return aliases.contains(servingAlias) || aliases.contains(buildingAlias);
    }

    private static boolean hasEntries(OpenSearchIndex index) throws IndexUnavailableException {
        index.refresh();
        return !index.digests().byKind().isEmpty();
    }

    /**
     * Creates an empty index with its write alias only. The cluster may execute the request after its time-out, when
     * another index has the serving alias. So an index gets the other aliases after it exists, by {@link #moveAlias}.
     *
     * @return the name of the index
     */
    private String create() throws IndexUnavailableException {
        String name = servingAlias + "-g" + UUID.randomUUID().toString().replace("-", "");
        ObjectNode index = TEMPLATE.deepCopy();
        index.withObject("/settings/index")
                .put("number_of_shards", settings.opensearchShards())
                .put("number_of_replicas", settings.opensearchReplicas());
        index.putObject("aliases").putObject(writeAlias(name));
        cluster.sendWithWriteTimeout("PUT", "/" + name, index);
        return name;
    }

    /** Atomically moves the serving or the building alias to an index, which then has only one of them. */
    private void moveAlias(String alias, String name) throws IndexUnavailableException {
        ObjectNode body = ClusterClient.JSON.createObjectNode();
        ArrayNode actions = body.putArray("actions");
        actions.addObject().putObject("add").put("index", name).put("alias", alias);
        aliasesByIndex().forEach((index, aliases) -> {
            if (aliases.contains(alias) && !index.equals(name)) {
                addRemoval(actions, index, alias);
            }
            if (aliases.contains(buildingAlias) && index.equals(name)) {
                addRemoval(actions, index, buildingAlias);
            }
        });
        cluster.sendWithWriteTimeout("POST", "/_aliases", body);
        String namedIndex = indexOf(alias).orElse("none");
        if (!namedIndex.equals(name)) {
            throw new IndexUnavailableException(
                    "after the alias " + alias + " was moved to the index " + name + ", it names " + namedIndex);
        }
    }

    private static void addRemoval(ArrayNode actions, String index, String alias) {
        actions.addObject().putObject("remove").put("index", index).put("alias", alias);
    }

    /** Deletes indices that are neither serving nor unfinished. An interrupted switch or drop leaves them. */
    private void deleteUnusedIndices() throws IndexUnavailableException {
        for (Map.Entry<String, List<String>> entry : aliasesByIndex().entrySet()) {
            if (!isInUse(entry.getValue())) {
                LOG.info("The index {} is neither serving nor unfinished. It is deleted", entry.getKey());
                delete(entry.getKey());
            }
        }
    }

    private void delete(String index) throws IndexUnavailableException {
        cluster.sendWithWriteTimeout("DELETE", "/" + index, null);
    }

    private static JsonNode template() {
        try (InputStream resource = OpenSearchStore.class.getResourceAsStream("index.json")) {
            if (resource == null) {
                throw new IllegalStateException("the resource index.json is missing");
            }
            return ClusterClient.JSON.readTree(resource);
        } catch (IOException e) {
            throw new IllegalStateException("the resource index.json is not valid JSON", e);
        }
    }
}
