package com.example.music;

import dev.puri.schemas.identity.Shard;
import java.util.Comparator;
import java.util.List;
import org.springframework.stereotype.Component;

/** All shards, and the rule that puts a new object into one of them. */
@Component
class Shards {
    private final List<ShardDatabase> databases;

    Shards(List<ShardDatabase> databases) {
        this.databases = databases.stream()
                .sorted(Comparator.comparing(database -> database.shard().text()))
                .toList();
    }

    /**
     * The shard of a new object. Only new objects are placed by this rule; the registry knows where each is, so a shard can
     * be added without moving any.
     *
     * @param key objects of one key, such as a user, are in one shard
     */
    ShardDatabase forNew(String key) {
        return databases.get(Math.floorMod(key.hashCode(), databases.size()));
    }

    /**
     * The shard of a placement.
     *
     * @throws IllegalArgumentException when this service has no such shard
     */
    ShardDatabase get(Shard shard) {
        return databases.stream()
                .filter(database -> database.shard().equals(shard))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no database of shard " + shard));
    }
}
