package com.example.music;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Import;

/**
 * Stores artists, tracks and playlists in three databases.
 *
 * <pre>{@code
 * MusicController ─▶ Catalog ─┬─▶ Shards ─▶ ShardDatabase br-1: rows and outbox ─▶ relay ─▶ registry
 *                             │             ShardDatabase eu-1, us-1: the same
 *                             └─▶ ResolverClient: pURI or handle ─▶ shard and uuid
 *                 ─▶ SearchClient: words ─▶ pURIs of all shards
 * }</pre>
 */
@SpringBootApplication
@Import(ShardBeans.class)
public class MusicApplication {
    public static void main(String[] args) {
        SpringApplication.run(MusicApplication.class, args);
    }
}
