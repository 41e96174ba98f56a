package com.example;

import com.example.names.Soundcloud;
import dev.puri.client.Events;
import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.client.NewIdentity;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Shard;
import dev.puri.spring.boot.TransactionOutbox;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Stores a row and its event in one transaction. */
@SpringBootApplication
public class CatalogApplication {
    public static void main(String[] args) {
        SpringApplication.run(CatalogApplication.class, args);
    }

    @Service
    static class Tracks {
        private final Identities tracks = Soundcloud.TRACKS.identities(Identifiers.sortable());
        private final JdbcTemplate jdbc;
        private final TransactionOutbox outbox;
        private final Events events;

        Tracks(JdbcTemplate jdbc, TransactionOutbox outbox, Events events) {
            this.jdbc = jdbc;
            this.outbox = outbox;
            this.events = events;
        }

        @Transactional
        NewIdentity add(String title) {
            NewIdentity track = tracks.mint();
            jdbc.update("INSERT INTO tracks VALUES (?, ?)", track.uuid(), title);
            outbox.add(events.created(track, new Owner("catalog"), new Shard("eu-1"))
                    .build());
            return track;
        }
    }
}
