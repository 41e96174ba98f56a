package dev.puri.resolver;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import org.jspecify.annotations.Nullable;

/**
 * Every identity, by two doors. One thread writes while any number read; a reader sees each identity
 * as it was at some moment, never half of it. Outlives the client that feeds it, so that it can answer
 * while another takes over.
 */
interface Table {
    /** The identity of that name; null when there is none. */
    @Nullable
    Identity byPuri(Puri puri);

    /** The identity that bears this handle now; null when none does. */
    @Nullable
    Identity byHandle(Handle handle);

    /** How many identities there are, merged and deleted ones among them. */
    long rows();

    /** The offset up to which a partition of the topic has been seen; 0 before anything of it was. */
    long reached(int partition);
}
