package dev.puri.resolver.export;

import dev.puri.resolver.live.ChangeRing;
import dev.puri.resolver.table.Table;

/**
 * What exports are made of: a table that was complete, and the ring of its changes. They belong together, for the ring's
 * cursor is true of no other table.
 *
 * @param changes told each change after readers of the table can see it
 */
public record ExportSource(Table table, ChangeRing changes) {}
