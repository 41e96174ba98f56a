/**
 * Fills the identity table from {@code puri.identities.v1}, keeps it current, and writes its snapshots. {@link
 * dev.puri.resolver.feed.TableStatus} has its readiness, lag and progress.
 *
 * <pre>
 * puri.identities.v1 ─▶ TrackedConsumer, ReadAhead ─▶ RowFeed ─▶ RowWriter ─▶ PackedTable ─▶ Snapshots
 *                       └───────────── StreamsTableFeeder, for one table ──────────┘      │
 *                       └───────────── TableKeeper, replaces the feeder ────────────┴──▶ RowChanges
 * </pre>
 */
@NullMarked
package dev.puri.resolver.feed;

import org.jspecify.annotations.NullMarked;
