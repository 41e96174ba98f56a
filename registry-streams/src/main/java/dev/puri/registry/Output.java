package dev.puri.registry;

import org.jspecify.annotations.Nullable;

/**
 * What the registrar writes, and where to.
 *
 * @param value null is a tombstone
 */
record Output(Destination to, byte @Nullable [] value) {
    enum Destination {
        IDENTITIES,
        DOCUMENTS,
        REJECTIONS,
        CLAIMS
    }
}
