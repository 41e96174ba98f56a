/**
 * Changes of rows as they happen, for {@code GET /v1/changes}.
 *
 * <pre>
 * table's writer ──▶ ChangeRing ──▶ Subscribers' thread ──▶ Sink of each
 *                        ▲
 * puri.identities.v1 ──ChangeReplay, from an older ChangeId to the begin of the ring──▶ Replays' thread ──▶ Sink
 * </pre>
 *
 * A {@link dev.puri.resolver.live.ChangeId} names the next offset of each partition, so it is valid on every instance. A
 * subscriber that connects again with it loses no change, but may receive one twice.
 */
@NullMarked
package dev.puri.resolver.live;

import org.jspecify.annotations.NullMarked;
