/**
 * All rows of a table, while it is written, and where {@code /v1/changes} goes on from them.
 *
 * <pre>
 * ChangeRing ─▶ cursor ─┐
 * table, part by part ──┴▶ Export ─▶ NdjsonRows | AvroRows ─▶ Download
 * </pre>
 */
@NullMarked
package dev.puri.resolver.export;

import org.jspecify.annotations.NullMarked;
