/**
 * Changes of rows as they happen, for {@code GET /v1/changes}.
 *
 * <pre>
 * table's writer ──▶ ChangeRing ──▶ Subscribers' thread ──▶ Sink of each
 *                        ▲
 * puri.identities.v1 ──ChangeReplay, from an older ChangeId to where the ring begins──▶ Sink
 * </pre>
 *
 * A {@link dev.puri.resolver.live.ChangeId} says of each partition how far its bearer has been told,
 * so it is good on every instance, and nothing is lost over a reconnect; a change may be told twice.
 */
@NullMarked
package dev.puri.resolver.live;

import org.jspecify.annotations.NullMarked;
