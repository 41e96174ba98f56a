package dev.puri.schemas.log;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import org.jspecify.annotations.Nullable;

/** What a registry publishes about one identity: its row, or its document. */
public sealed interface Entry permits Row, Document {
    /** Returns the owner. */
    Owner owner();

    /** Returns the shard. */
    Shard shard();

    /** Returns the public name; null if there is none. */
    @Nullable
    Handle handle();

    /** Returns the state of the identity. */
    Row.Status status();

    /** Returns the identity into which this identity was merged; null if it was not merged. */
    @Nullable
    Puri mergedInto();

    /** Returns the position of the last event that changed this row or document. */
    Position position();
}
