package dev.puri.client.resolve;

import dev.puri.client.Events;
import dev.puri.client.NewIdentity;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import java.time.Instant;

/** The registry of an {@link IdentityResolverContract}: it takes events of one collection, whose resolver is tested. */
public interface ContractRegistry {
    String NAMESPACE = "contract";
    String COLLECTION = "tracks";
    Prefix PREFIX = new Prefix("ctr");

    /** A collection of the same namespace without identities, which may be imported. */
    String IMPORTED = "albums";

    Prefix IMPORTED_PREFIX = new Prefix("cta");
    Owner OWNER = new Owner("catalog");
    Instant TIME = Instant.parse("2026-03-01T10:00:00.120Z");

    /** The number of partitions of the events topic. */
    int PARTITIONS = 3;

    Events EVENTS = new Events("contract-test");

    /** Mints an identity of the collection, with a handle. */
    NewIdentity mint();

    /** Publishes, and returns the token. */
    Position publish(Events.Draft draft) throws Exception;

    /** Declares a collection, in place of an earlier declaration. The resolver may read the declaration later. */
    void declare(Collection collection);

    default Puri name() {
        return mint().puri();
    }

    /** Creates an object in this shard, at {@link #TIME}. */
    default Position create(NewIdentity identity, String shard) throws Exception {
        return publish(EVENTS.created(identity, OWNER, new Shard(shard)).occurredAt(TIME));
    }
}
