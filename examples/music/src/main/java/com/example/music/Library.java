package com.example.music;

import com.example.music.names.Music;
import dev.puri.client.resolve.Gathered;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Located;
import dev.puri.client.resolve.Placement;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.Scatter;
import dev.puri.client.resolve.ShardQuery;
import dev.puri.schemas.identity.Shard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;

/** Reads objects of all shards, by pURI or handle. */
@Service
class Library implements DisposableBean {
    private static final int MAX_QUERIES = 8;

    /** Queries by collection. The SQL is constant, so no text from the registry becomes part of it. */
    private static final Map<String, String> TITLES = Map.of(
            Music.ARTISTS.qualifiedName(), "SELECT id, name AS title FROM artists WHERE id IN (:ids)",
            Music.TRACKS.qualifiedName(), "SELECT id, title FROM tracks WHERE id IN (:ids)",
            Music.PLAYLISTS.qualifiedName(), "SELECT id, title FROM playlists WHERE id IN (:ids)");

    private final IdentityResolver resolver;
    private final Shards shards;
    private final Scatter scatter;
    private final ExecutorService executor = Executors.newFixedThreadPool(4 * MAX_QUERIES);

    Library(IdentityResolver resolver, Shards shards) {
        this.resolver = resolver;
        this.shards = shards;
        this.scatter = new Scatter(resolver, MAX_QUERIES, Duration.ofSeconds(2));
    }

    /**
     * Reads a list of references with one look-up, and one query for each collection in each shard. The result has the
     * order of the references.
     */
    List<Item> items(List<Ref> refs) {
        List<Gathered<String>> gathered = scatter.gather(refs, ShardQuery.blocking(executor, this::titles))
                .toCompletableFuture()
                .join();
        List<Item> items = new ArrayList<>();
        for (int i = 0; i < refs.size(); i++) {
            items.add(Item.of(refs.get(i), gathered.get(i)));
        }
        return items;
    }

    private Map<UUID, String> titles(Shard shard, List<Located> rows) {
        String sql = TITLES.get(rows.get(0).puri().qualifiedCollection());
        Map<UUID, String> titles = new HashMap<>();
        if (sql != null) {
            shards.get(shard)
                    .jdbc()
                    .sql(sql)
                    .param("ids", rows.stream().map(Located::uuid).toList())
                    .query(row -> {
                        titles.put(row.getObject("id", UUID.class), row.getString("title"));
                    });
        }
        return titles;
    }

    /** Returns a playlist with its items, which may be in any shard; empty if there is no such playlist. */
    Optional<Playlist> playlist(Ref ref) {
        Placement placement = resolver.resolve(ref).placement();
        if (placement == null) {
            return Optional.empty();
        }
        JdbcClient jdbc = shards.get(placement.shard()).jdbc();
        List<Ref> items = jdbc.sql(
                        "SELECT item_collection, item FROM playlist_items WHERE playlist = ? ORDER BY position")
                .param(placement.uuid())
                .query((row, number) -> Ref.of(Catalog.ITEM.load(row.getInt(1), row.getString(2))))
                .list();
        return jdbc.sql("SELECT title FROM playlists WHERE id = ?")
                .param(placement.uuid())
                .query(String.class)
                .optional()
                .map(title -> new Playlist(title, items(items)));
    }

    @Override
    public void destroy() {
        executor.shutdownNow();
    }
}
