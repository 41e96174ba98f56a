package com.example.music;

import dev.puri.schemas.identity.Shard;
import java.util.Comparator;
import java.util.List;
import org.springframework.stereotype.Component;

/** The shards of this service. Chooses the shard of each new object. */
@Component
class Shards {
    private final List<ShardDatabase> databases;

    Shards(List<ShardDatabase> databases) {
        this.databases = databases.stream()
                .sorted(Comparator.comparing(database -> database.shard().text()))
                .toList();
    }

    /**
     * Returns the shard for a new object. This rule applies only to new objects. The registry knows the shard of every
     * object, so a shard can be added without moving objects.
     *
     * @param key objects with the same key, such as a user, get the same shard
     */
    ShardDatabase forNew(String key) {
        return databases.get(Math.floorMod(key.hashCode(), databases.size()));
    }

    /**
     * Returns the database of a shard.
     *
     * @throws IllegalArgumentException if this service does not have the shard
     */
    ShardDatabase get(Shard shard) {
        return databases.stream()
                .filter(database -> database.shard().equals(shard))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("this service has no database for the shard " + shard));
    }
}
