package dev.puri.resolver.table;

import dev.puri.schemas.identity.Puri;

/** Damages tables, for tests of the checks that find the damage. */
public final class TableFaults {
    private TableFaults() {}

    /** Changes one bit of the stored row of a pURI, which must exist. Nothing may write the table meanwhile. */
    public static void flipBit(PackedTable table, Puri puri) {
        table.flipBit(puri);
    }
}
