/**
 * Exports of all rows of a table, with the cursor from which {@code /v1/changes} continues.
 *
 * <pre>
 * ChangeRing ─▶ cursor ─┐
 * table, part by part ──┴▶ Export ─▶ NdjsonExportWriter | AvroExportWriter ─▶ Download
 * </pre>
 */
@NullMarked
package dev.puri.resolver.export;

import org.jspecify.annotations.NullMarked;
