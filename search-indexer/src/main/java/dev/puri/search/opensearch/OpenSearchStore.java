package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.search.index.CursorSeal;
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
 * Indices in an OpenSearch cluster. Which one serves is an alias, switched in one step of the cluster.
 *
 * <pre>
 * puri-search            alias of the one that serves
 * puri-search-building   alias of the one that is being built, until it serves
 * puri-search-g7f3…      an index; without one of these aliases it is left over, and dropped at the next start
 * puri-search-g7f3…-w    alias of it alone, through which it is written: a late write to an index that was
 *                        dropped finds no alias and is refused, instead of making an index of that name
 * </pre>
 *
 * One indexer writes the indices of one alias.
 */
public final class OpenSearchStore implements IndexStore {
    private static final Logger LOG = LoggerFactory.getLogger(OpenSearchStore.class);
    private static final JsonNode TEMPLATE = template();

    private final ClusterClient cluster;
    private final OpenSearchSettings settings;
    private final CursorSeal seal;
    private final String servingAlias;
    private final String buildingAlias;
    private final Pattern ours;
    private @Nullable OpenSearchIndex serving;
    private @Nullable OpenSearchIndex building;

    /**
     * Asks nobody yet.
     *
     * @param seal of its cursors; instances that serve one address must have the same
     * @throws IllegalArgumentException when the file of authorities cannot be used
     */
    public OpenSearchStore(OpenSearchSettings settings, CursorSeal seal) {
        this.settings = settings;
        this.seal = seal;
        cluster = new ClusterClient(settings);
        servingAlias = settings.opensearchIndex();
        buildingAlias = servingAlias + "-building";
        ours = Pattern.compile(Pattern.quote(servingAlias) + "-g[0-9a-f]{32}");
    }

    @Override
    public SearchIndex serving() throws IndexUnavailableException {
        requireClosed(serving);
        String name = bearer(servingAlias).orElse(null);
        if (name == null) {
            name = create(servingAlias);
        } else if (!isUsable(name)) {
            LOG.warn("The index {} is of another version: it is dropped, and a new one filled from the log", name);
            String fresh = create(null);
            switchTo(fresh);
            name = fresh;
        }
        OpenSearchIndex opened = open(name);
        opened.refresh();
        dropLeftOver();
        serving = opened;
        return opened;
    }

    @Override
    public @Nullable SearchIndex building() throws IndexUnavailableException {
        requireClosed(building);
        String name = bearer(buildingAlias).orElse(null);
        if (name == null) {
            return null;
        }
        if (!isUsable(name)) {
            delete(name);
            return null;
        }
        OpenSearchIndex opened = open(name);
        opened.refresh();
        building = opened;
        return opened;
    }

    @Override
    public SearchIndex build() throws IndexUnavailableException {
        if (bearer(buildingAlias).isPresent()) {
            throw new IllegalStateException("there is an index that is being built already");
        }
        OpenSearchIndex opened = open(create(buildingAlias));
        building = opened;
        return opened;
    }

    @Override
    public void promote() throws IndexUnavailableException {
        OpenSearchIndex built = building;
        if (built == null) {
            throw new IllegalStateException("there is no index that was built");
        }
        switchTo(built.name());
        serving = built;
        building = null;
    }

    @Override
    public void drop(SearchIndex index) throws IndexUnavailableException {
        // By name, since that is how it is removed, and it may have been opened more than once.
        if (!(index instanceof OpenSearchIndex dropped) || isNamed(serving, dropped.name())) {
            throw new IllegalArgumentException("only what served before, or was being built, is dropped");
        }
        dropped.close();
        delete(dropped.name());
        OpenSearchIndex built = building;
        if (built != null && isNamed(built, dropped.name())) {
            built.close();
            building = null;
        }
    }

    private static boolean isNamed(@Nullable OpenSearchIndex index, String name) {
        return index != null && index.name().equals(name);
    }

    @Override
    public void close() {
        if (serving != null) {
            serving.close();
        }
        if (building != null) {
            building.close();
        }
        cluster.close();
    }

    private static void requireClosed(@Nullable OpenSearchIndex index) {
        if (index != null && index.isOpen()) {
            throw new IllegalStateException("the index " + index.name() + " is open already");
        }
    }

    private OpenSearchIndex open(String name) {
        return new OpenSearchIndex(cluster, name, writeAlias(name), seal);
    }

    private static String writeAlias(String index) {
        return index + "-w";
    }

    /** Which of our indices has an alias. */
    private Optional<String> bearer(String alias) throws IndexUnavailableException {
        List<String> bearers = new ArrayList<>();
        aliases().forEach((index, its) -> {
            if (its.contains(alias)) {
                bearers.add(index);
            }
        });
        if (bearers.size() > 1) {
            throw new IllegalStateException("the alias " + alias + " names more than one index: " + bearers);
        }
        return bearers.stream().findFirst();
    }

    /** Our indices with their aliases. */
    private Map<String, List<String>> aliases() throws IndexUnavailableException {
        JsonNode answer =
                cluster.write("GET", "/" + servingAlias + "-g*/_alias", null).body();
        Map<String, List<String>> found = new TreeMap<>();
        answer.properties().forEach(index -> {
            if (ours.matcher(index.getKey()).matches()) {
                List<String> its = new ArrayList<>();
                index.getValue().path("aliases").fieldNames().forEachRemaining(its::add);
                found.put(index.getKey(), its);
            }
        });
        return found;
    }

    /** Whether this version made it, or one that does the same. */
    private boolean isUsable(String name) throws IndexUnavailableException {
        JsonNode mappings = cluster.write("GET", "/" + name + "/_mapping", null)
                .body()
                .path(name)
                .path("mappings");
        if (!mappings.path("_meta").equals(TEMPLATE.path("mappings").path("_meta"))) {
            return false;
        }
        try (OpenSearchIndex index = open(name)) {
            LOG.info("The index {} goes as far as {}", name, index.committed());
            return true;
        } catch (IllegalArgumentException e) {
            LOG.warn("The index {} is {}", name, e.getMessage());
            return false;
        }
    }

    private String create(@Nullable String alias) throws IndexUnavailableException {
        String name = servingAlias + "-g" + UUID.randomUUID().toString().replace("-", "");
        ObjectNode index = TEMPLATE.deepCopy();
        index.withObject("/settings/index")
                .put("number_of_shards", settings.opensearchShards())
                .put("number_of_replicas", settings.opensearchReplicas());
        ObjectNode aliases = index.putObject("aliases");
        aliases.putObject(writeAlias(name));
        if (alias != null) {
            aliases.putObject(alias);
        }
        cluster.write("PUT", "/" + name, index);
        return name;
    }

    /** Lets an index serve and no other, in one step. */
    private void switchTo(String name) throws IndexUnavailableException {
        ObjectNode body = ClusterClient.JSON.createObjectNode();
        ArrayNode actions = body.putArray("actions");
        actions.addObject().putObject("add").put("index", name).put("alias", servingAlias);
        aliases().forEach((index, its) -> {
            if (its.contains(servingAlias) && !index.equals(name)) {
                remove(actions, index, servingAlias);
            }
            if (its.contains(buildingAlias) && index.equals(name)) {
                remove(actions, index, buildingAlias);
            }
        });
        cluster.write("POST", "/_aliases", body);
        String serves = bearer(servingAlias).orElse("none");
        if (!serves.equals(name)) {
            throw new IndexUnavailableException(
                    "after the switch to " + name + " it is " + serves + " that serves",
                    new IOException("the cluster said so"));
        }
    }

    private static void remove(ArrayNode actions, String index, String alias) {
        actions.addObject().putObject("remove").put("index", index).put("alias", alias);
    }

    /** An interrupted switch or drop leaves an index that neither serves nor is being built. */
    private void dropLeftOver() throws IndexUnavailableException {
        for (Map.Entry<String, List<String>> each : aliases().entrySet()) {
            if (!each.getValue().contains(servingAlias) && !each.getValue().contains(buildingAlias)) {
                LOG.info("The index {} is left over and dropped", each.getKey());
                delete(each.getKey());
            }
        }
    }

    private void delete(String index) throws IndexUnavailableException {
        cluster.write("DELETE", "/" + index, null);
    }

    private static JsonNode template() {
        try (InputStream resource = OpenSearchStore.class.getResourceAsStream("index.json")) {
            if (resource == null) {
                throw new IllegalStateException("index.json is not beside this class");
            }
            return ClusterClient.JSON.readTree(resource);
        } catch (IOException e) {
            throw new IllegalStateException("index.json is no JSON", e);
        }
    }
}
