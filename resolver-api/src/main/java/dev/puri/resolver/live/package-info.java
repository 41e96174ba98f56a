/**
 * Changes of rows as they happen, for {@code GET /v1/changes}.
 *
 * <pre>
 * writer thread of the table ──▶ ChangeRing ──▶ sender thread of Subscribers ──▶ Sink of each subscriber
 *
 * puri.identities.v1 ──▶ ChangeReplay ──▶ a thread of Replays ──▶ Sink of a subscriber
 *                        (changes that are older than the ring)
 * </pre>
 *
 * A {@link dev.puri.resolver.live.ChangeId} contains the next offset of each partition, so it is valid on every
 * instance. A subscriber that connects again with its last id misses no change, but may receive a change twice.
 */
@NullMarked
package dev.puri.resolver.live;

import org.jspecify.annotations.NullMarked;
