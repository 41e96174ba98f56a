package com.example.music;

import com.example.music.names.Music;
import dev.puri.client.Events;
import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.NewIdentity;
import dev.puri.client.PublishException;
import dev.puri.client.PublishOutcome;
import dev.puri.client.storage.ColumnMapping;
import dev.puri.client.storage.PuriColumns;
import dev.puri.client.storage.PuriMappings;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;

/** Writes new artists, tracks and playlists, each into one shard, with its event in the same transaction. */
@Service
class Catalog {
    /** Identifiers of artists, without the rest of the pURI. */
    static final ColumnMapping<Puri, String> ARTIST =
            PuriColumns.of(Music.ARTISTS).asText(40);

    /** The numbers are stored, so they never change. */
    static final PuriMappings<String> ITEM = PuriMappings.of(1, ARTIST)
            .and(2, PuriColumns.of(Music.TRACKS).asText(40))
            .and(3, PuriColumns.of(Music.PLAYLISTS).asText(40));

    private static final Owner OWNER = new Owner("music");

    /** Artists have natural keys, the others short ids in the order of creation. */
    private final Identities artists = Music.ARTISTS.identities(Identifiers.uuid());

    private final Identities tracks = Music.TRACKS.identities(Identifiers.sortable());
    private final Identities playlists = Music.PLAYLISTS.identities(Identifiers.sortable());

    private final Shards shards;
    private final Events events;
    private final IdentityPublisher publisher;
    private final Duration claimWait;

    /**
     * @param claimWait for the registry's answer to a claim
     */
    Catalog(
            Shards shards,
            Events events,
            IdentityPublisher publisher,
            @Value("${music.claim-wait:5s}") Duration claimWait) {
        this.shards = shards;
        this.events = events;
        this.publisher = publisher;
        this.claimWait = claimWait;
    }

    /** A track is in the shard that its own name chooses. */
    Created addTrack(String title, Puri artist) {
        NewIdentity track = tracks.mint();
        ShardDatabase database = shards.forNew(track.puri().toString());
        Event event = events.created(track, OWNER, database.shard())
                .attribute("title", title)
                .build();
        database.write(
                jdbc -> jdbc.sql("INSERT INTO tracks VALUES (?, ?, ?)")
                        .params(track.uuid(), title, ARTIST.store(artist))
                        .update(),
                event);
        return Created.of(track, database, true);
    }

    /** A playlist is in the shard of its user; its items may be anywhere. */
    Created addPlaylist(String user, String title, List<Puri> items) {
        NewIdentity playlist = playlists.mint();
        ShardDatabase database = shards.forNew(user);
        Event event = events.created(playlist, OWNER, database.shard())
                .attribute("title", title)
                .build();
        database.write(
                jdbc -> {
                    jdbc.sql("INSERT INTO playlists VALUES (?, ?)")
                            .params(playlist.uuid(), title)
                            .update();
                    for (int position = 0; position < items.size(); position++) {
                        PuriMappings.Stored<String> item = ITEM.store(items.get(position));
                        jdbc.sql("INSERT INTO playlist_items VALUES (?, ?, ?, ?)")
                                .params(playlist.uuid(), position, item.code(), item.value())
                                .update();
                    }
                },
                event);
        return Created.of(playlist, database, true);
    }

    /**
     * An artist is in the shard of the user who adds it, under a key that somebody else may claim at the same moment in another
     * shard. No database can decide that; the registry does.
     *
     * @throws ClaimRefusedException when the key is another artist's
     */
    Created addArtist(String user, String key, String name) {
        NewIdentity artist = artists.mint(key);
        ShardDatabase database = shards.forNew(user);
        Event event = events.created(artist, OWNER, database.shard())
                .attribute("name", name)
                .build();
        ARTIST.store(artist.puri());
        database.write(
                jdbc -> jdbc.sql("INSERT INTO artists VALUES (?, ?)")
                        .params(artist.uuid(), name)
                        .update(),
                event);
        PublishOutcome outcome = outcome(event);
        if (outcome instanceof PublishOutcome.Refused refused) {
            // Nobody has seen the row, because nobody can look up its uuid. The event is deleted too: published after
            // the holder is erased, it would claim the name for a row that is gone.
            database.delete("artists", artist.uuid(), event);
            throw new ClaimRefusedException(artist.puri(), refused);
        }
        return Created.of(artist, database, outcome instanceof PublishOutcome.Accepted);
    }

    /**
     * Publishes an event that is in the outbox too. Both records have one event id, so the event counts once, and the token of
     * this one tells the outcome. If this fails, the outbox publishes the event later.
     */
    private PublishOutcome outcome(Event event) {
        try {
            return publisher.awaitSync(event.puri(), publisher.publishSync(event), claimWait);
        } catch (IOException | PublishException | IllegalStateException e) {
            return new PublishOutcome.NotCaughtUp();
        }
    }
}
