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

/**
 * Stores new artists, tracks and playlists. Each object is stored in one shard, together with its event in the same
 * transaction.
 */
@Service
class Catalog {
    /** Stores only the identifier of an artist, and not the whole pURI. */
    static final ColumnMapping<Puri, String> ARTIST =
            PuriColumns.of(Music.ARTISTS).asText(40);

    /** The codes 1, 2 and 3 are stored in rows, so they must never change. */
    static final PuriMappings<String> ITEM = PuriMappings.of(1, ARTIST)
            .and(2, PuriColumns.of(Music.TRACKS).asText(40))
            .and(3, PuriColumns.of(Music.PLAYLISTS).asText(40));

    private static final Owner OWNER = new Owner("music");

    /** Artists have natural keys; tracks and playlists have short ids in the order of creation. */
    private final Identities artists = Music.ARTISTS.identities(Identifiers.uuid());

    private final Identities tracks = Music.TRACKS.identities(Identifiers.sortable());
    private final Identities playlists = Music.PLAYLISTS.identities(Identifiers.sortable());

    private final Shards shards;
    private final Events events;
    private final IdentityPublisher publisher;
    private final Duration claimWait;

    /**
     * @param claimWait maximum time to wait for the registry's decision on a claim
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

    /** Stores a track in the shard that its pURI determines. */
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

    /** Stores a playlist in the shard of its user. The items may be in any shard. */
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
     * Stores an artist in the shard of the user who adds the artist. Another user may claim the same key at the same
     * time in another shard. No database can decide which claim is first, so the registry decides.
     *
     * @throws ClaimRefusedException if another artist has the key
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
            // Nobody has read the row, because nobody can look up its uuid. The event is deleted too: if the relay
            // published it after the holder was erased, the event would claim the name for a row that no longer exists.
            database.delete("artists", artist.uuid(), event);
            throw new ClaimRefusedException(artist.puri(), refused);
        }
        return Created.of(artist, database, outcome instanceof PublishOutcome.Accepted);
    }

    /**
     * Publishes an event at once, although the outbox publishes it too, and waits for the outcome. Both records have
     * the same event id, so the event counts once. If this method fails, the outbox publishes the event later.
     */
    private PublishOutcome outcome(Event event) {
        try {
            return publisher.awaitSync(event.puri(), publisher.publishSync(event), claimWait);
        } catch (IOException | PublishException | IllegalStateException e) {
            return new PublishOutcome.NotCaughtUp();
        }
    }
}
