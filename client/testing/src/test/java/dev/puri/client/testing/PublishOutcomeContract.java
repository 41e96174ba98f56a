package dev.puri.client.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.client.Delivery;
import dev.puri.client.Events;
import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.client.NewIdentity;
import dev.puri.client.PublishOutcome;
import dev.puri.client.PublishOutcome.Refused;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Outcomes of events, in the registry and in its fake; both have the collections of {@code collections.yaml}. */
abstract class PublishOutcomeContract {
    private static final Owner CATALOG = new Owner("catalog");
    private static final Shard EU = new Shard("eu-1");
    private static final Shard US = new Shard("us-1");

    private final Events events = new Events("outcome-test");
    private final Identities tracks = new Identities("music", "tracks", new Prefix("trk"), Identifiers.nanoid());
    private final Identities albums = new Identities("music", "albums", null, Identifiers.nanoid());

    abstract Position publish(Event event) throws Exception;

    abstract List<Delivery> publishAll(List<Event> events) throws Exception;

    abstract PublishOutcome await(Puri puri, Position token) throws Exception;

    abstract IdentityResolver resolver();

    private PublishOutcome outcome(Event event) throws Exception {
        return await(event.puri(), publish(event));
    }

    private NewIdentity created() throws Exception {
        NewIdentity track = tracks.mint();
        assertThat(outcome(events.created(track, CATALOG, EU).build())).isEqualTo(new PublishOutcome.Accepted());
        return track;
    }

    @Test
    void firstClaimOfANameWins() throws Exception {
        NewIdentity track = created();
        NewIdentity rival = new NewIdentity(track.puri(), tracks.mint().uuid(), null);
        assertThat(outcome(events.created(rival, new Owner("radio"), US).build()))
                .isInstanceOfSatisfying(Refused.PuriTaken.class, taken -> {
                    assertThat(taken.holderOwner()).isEqualTo(CATALOG);
                    assertThat(taken.holderShard()).isEqualTo(EU);
                });
    }

    @Test
    void firstClaimOfAHandleWinsAlsoAfterAnErasure() throws Exception {
        NewIdentity track = created();
        Handle handle = Objects.requireNonNull(track.handle());
        for (boolean erase : new boolean[] {false, true}) {
            if (erase) {
                outcome(events.erased(track.puri()).build());
            }
            NewIdentity other = tracks.mint();
            assertThat(outcome(events.created(new NewIdentity(other.puri(), other.uuid(), handle), CATALOG, EU)
                            .build()))
                    .isInstanceOf(Refused.HandleTaken.class);
        }
    }

    @Test
    void anEventCountsOnce() throws Exception {
        NewIdentity track = created();
        Event moved = events.moved(track.puri(), US).build();
        for (int i = 0; i < 3; i++) {
            assertThat(outcome(moved)).isEqualTo(new PublishOutcome.Accepted());
        }
        assertThat(((Verdict.Found) resolver().resolve(Ref.of(track.puri()))).epoch())
                .isEqualTo(2);
    }

    @Test
    void guardsRefuseLateEvents() throws Exception {
        NewIdentity track = created();
        assertThat(outcome(events.moved(track.puri(), US).ifEpoch(1).build())).isEqualTo(new PublishOutcome.Accepted());
        assertThat(outcome(events.moved(track.puri(), EU).ifEpoch(1).build())).isInstanceOf(Refused.StaleEpoch.class);
        assertThat(outcome(events.moved(track.puri(), EU)
                        .ifUuid(tracks.mint().uuid())
                        .build()))
                .isInstanceOf(Refused.OtherIncarnation.class);
    }

    @Test
    void changesOfDeletedIdentitiesAreRefused() throws Exception {
        NewIdentity survivor = created();
        NewIdentity merged = created();
        NewIdentity deleted = created();
        NewIdentity erased = created();
        outcome(events.merged(merged.puri(), survivor.puri()).build());
        outcome(events.deleted(deleted.puri()).build());
        outcome(events.erased(erased.puri()).build());

        assertThat(outcome(events.moved(merged.puri(), US).build()))
                .isInstanceOfSatisfying(
                        Refused.Merged.class,
                        refused -> assertThat(refused.survivor()).isEqualTo(survivor.puri()));
        assertThat(outcome(events.moved(deleted.puri(), US).build())).isInstanceOf(Refused.Deleted.class);
        assertThat(outcome(events.moved(erased.puri(), US).build())).isInstanceOf(Refused.UnknownPuri.class);
        assertThat(outcome(events.moved(tracks.mint().puri(), US).build())).isInstanceOf(Refused.UnknownPuri.class);
        assertThat(outcome(events.created(erased, CATALOG, EU).build()))
                .isInstanceOfSatisfying(
                        Refused.Other.class,
                        refused -> assertThat(refused.reason()).isEqualTo("ID_REUSED"));
    }

    @Test
    void aDeclarationIsKept() throws Exception {
        assertThat(outcome(events.created(albums.mint(), new Owner("radio"), EU).build()))
                .isInstanceOf(Refused.NotAllowed.class);
        NewIdentity album = albums.mint();
        Handle ofTracks = tracks.mint().handle();
        assertThat(outcome(events.created(new NewIdentity(album.puri(), album.uuid(), ofTracks), CATALOG, EU)
                        .build()))
                .isInstanceOfSatisfying(
                        Refused.Other.class,
                        refused -> assertThat(refused.reason()).isEqualTo("WRONG_PREFIX"));
    }

    @Test
    void aBatchIsAcknowledgedInItsOrder() throws Exception {
        List<Event> batch = List.of(
                events.created(tracks.mint(), CATALOG, EU).build(),
                events.created(albums.mint(), CATALOG, US).build());
        List<Delivery> deliveries = publishAll(batch);
        assertThat(deliveries).extracting(Delivery::event).isEqualTo(batch);
        for (Delivery delivery : deliveries) {
            Position token = ((Delivery.Acknowledged) delivery).token();
            assertThat(await(delivery.event().puri(), token)).isEqualTo(new PublishOutcome.Accepted());
        }
    }
}
