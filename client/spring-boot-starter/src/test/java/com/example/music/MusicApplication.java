package com.example.music;

import dev.puri.client.Events;
import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.client.NewIdentity;
import dev.puri.client.resolve.Placement;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.spring.boot.TransactionOutbox;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.*;

@SpringBootApplication
public class MusicApplication {
    private static final Identities TRACKS = new Identities("music", "tracks", null, Identifiers.sortable());

    public static void main(String[] args) {
        SpringApplication.run(MusicApplication.class, args);
    }

    @RestController
    static class Tracks {
        private final JdbcTemplate jdbc;
        private final TransactionOutbox outbox;
        private final Events events;
        private final ResolverClient resolver;

        Tracks(JdbcTemplate jdbc, TransactionOutbox outbox, Events events, ResolverClient resolver) {
            this.jdbc = jdbc;
            this.outbox = outbox;
            this.events = events;
            this.resolver = resolver;
        }

        @PostMapping("/tracks")
        @Transactional
        public NewIdentity create(@RequestParam String title) {
            NewIdentity track = TRACKS.mint();
            jdbc.update("INSERT INTO tracks VALUES (?, ?)", track.uuid(), title);
            outbox.add(events.created(track, new Owner("catalog"), new Shard("eu-1"))
                    .build());
            return track;
        }

        @GetMapping("/places/{puri}")
        public ResponseEntity<Placement> place(@PathVariable Puri puri) {
            Placement place = resolver.resolve(Ref.of(puri)).placement();
            return ResponseEntity.ofNullable(place);
        }
    }
}
