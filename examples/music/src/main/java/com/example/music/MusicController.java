package com.example.music;

import dev.puri.client.PublishOutcome;
import dev.puri.client.resolve.Ref;
import dev.puri.client.storage.UnmappableNameException;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The HTTP API of this service. All paths except {@code /public} are for other services. */
@RestController
class MusicController {
    record NewArtist(String user, String key, String name) {}

    record NewTrack(String title, Puri artist) {}

    record NewPlaylist(String user, String title, List<Puri> items) {}

    /** The public view of an object. It contains neither pURI nor uuid nor shard. */
    record PublicView(Handle handle, String title) {}

    private final Catalog catalog;
    private final Library library;
    private final SearchClient search;

    MusicController(Catalog catalog, Library library, SearchClient search) {
        this.catalog = catalog;
        this.library = library;
        this.search = search;
    }

    @PostMapping("/artists")
    ResponseEntity<Created> artist(@RequestBody NewArtist artist) {
        return answer(catalog.addArtist(artist.user(), artist.key(), artist.name()));
    }

    @PostMapping("/tracks")
    ResponseEntity<Created> track(@RequestBody NewTrack track) {
        return answer(catalog.addTrack(track.title(), track.artist()));
    }

    @PostMapping("/playlists")
    ResponseEntity<Created> playlist(@RequestBody NewPlaylist playlist) {
        return answer(catalog.addPlaylist(playlist.user(), playlist.title(), playlist.items()));
    }

    private static ResponseEntity<Created> answer(Created created) {
        return ResponseEntity.status(created.settled() ? HttpStatus.CREATED : HttpStatus.ACCEPTED)
                .body(created);
    }

    @GetMapping("/items")
    List<Item> items(@RequestParam MultiValueMap<String, String> parameters) {
        return library.items(Ref.all(parameters.getOrDefault("ref", List.of())));
    }

    @GetMapping("/playlists/{ref}")
    ResponseEntity<Playlist> playlist(@PathVariable String ref) {
        return ResponseEntity.of(library.playlist(Ref.of(ref)));
    }

    @GetMapping("/search")
    SearchClient.SearchResult search(@RequestParam String q) {
        return search.search(q);
    }

    @GetMapping("/public/{handle}")
    ResponseEntity<PublicView> publicView(@PathVariable Handle handle) {
        String title = library.items(List.of(Ref.of(handle))).get(0).title();
        return ResponseEntity.ofNullable(title == null ? null : new PublicView(handle, title));
    }

    @ExceptionHandler({InvalidNameException.class, UnmappableNameException.class})
    ProblemDetail malformed(IllegalArgumentException e) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.BAD_REQUEST, String.valueOf(e.getMessage()));
    }

    @ExceptionHandler
    ProblemDetail refused(ClaimRefusedException e) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, String.valueOf(e.getMessage()));
        problem.setType(URI.create("urn:music:name-refused"));
        if (e.refused() instanceof PublishOutcome.Refused.PuriTaken taken
                && taken.holderOwner() != null
                && taken.holderShard() != null) {
            problem.setProperty("holder", Map.of("owner", taken.holderOwner(), "shard", taken.holderShard()));
        }
        return problem;
    }
}
