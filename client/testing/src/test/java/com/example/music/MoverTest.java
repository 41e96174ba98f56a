package com.example.music;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.puri.client.Events;
import dev.puri.client.PublishOutcome;
import dev.puri.client.testing.InMemoryRegistry;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class MoverTest {
    /** Code to be tested; in production it gets {@code publisher::publishSync}. */
    record Mover(Function<Event, Position> publish) {
        Position move(Puri track, String shard) {
            return publish.apply(
                    new Events("catalog").moved(track, new Shard(shard)).build());
        }
    }

    @Test
    void aTrackThatNobodyCreatedCannotBeMoved() {
        InMemoryRegistry registry = new InMemoryRegistry().declare("collections.yaml");
        Puri track = Puri.parse("music:tracks:1");

        Position token = new Mover(registry::publishSync).move(track, "us-1");

        PublishOutcome outcome = registry.awaitSync(track, token, Duration.ZERO);
        assertInstanceOf(PublishOutcome.Refused.UnknownPuri.class, outcome);
        assertEquals(
                List.of(track), registry.published().stream().map(Event::puri).toList());
    }
}
