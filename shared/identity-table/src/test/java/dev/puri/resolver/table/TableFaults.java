package dev.puri.resolver.table;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.util.function.ToIntFunction;

/** Damages tables, for tests of the checks that find the damage. Nothing may write the table meanwhile. */
public final class TableFaults {
    /** The lowest bit of a hash that is in the tag of its index entry. */
    private static final long TAG_BIT = 1L << (Long.SIZE - Index.SEGMENT_BITS - Index.TAG_BITS);

    /** The largest address, which is beyond the memory of any test. */
    private static final long ADDRESS_WITHOUT_RECORD = (1L << (Long.SIZE - Index.TAG_BITS)) - 1;

    private TableFaults() {}

    /** Changes one bit of the stored row of a pURI, which must exist. */
    public static void flipBit(PackedTable table, Puri puri) {
        flipBit(table, puri, record -> Identifier.end(record, identifierOffset(record)) + 15, 1);
    }

    /** Changes one bit of the stored row of a pURI, which must exist, so that the row cannot be decoded. */
    static void flipBitOfKind(PackedTable table, Puri puri) {
        flipBit(table, puri, TableFaults::identifierOffset, 0x80);
    }

    private static void flipBit(PackedTable table, Puri puri, ToIntFunction<byte[]> offset, int bit) {
        TableMemory memory = table.memory();
        long address = addressOf(puri, memory);
        byte[] record = memory.puris().foundRecord();
        record[offset.applyAsInt(record)] ^= (byte) bit;
        memory.slab().copy(record, 0, address, record.length);
    }

    private static int identifierOffset(byte[] record) {
        return Varint.end(record, RowCodec.collectionOffset(record));
    }

    /** Changes one bit of the entry of a handle, which must exist, so that no look-up finds it. */
    public static void flipBitOfEntry(PackedTable table, Handle handle) {
        TableMemory memory = table.memory();
        HandleKey key = HandleKey.of(handle, memory.dictionaries(), memory.seed());
        long address = memory.handles().seek(key.hash(), key);
        memory.handles().replace(key.hash() ^ TAG_BIT, address);
    }

    /** Points the entry of a handle, which must exist, to the row of another pURI. */
    public static void pointTo(PackedTable table, Handle handle, Puri other) {
        TableMemory memory = table.memory();
        HandleKey key = HandleKey.of(handle, memory.dictionaries(), memory.seed());
        if (memory.handles().seek(key.hash(), key) == 0) {
            throw new IllegalArgumentException("no row has " + handle);
        }
        memory.handles().replace(key.hash(), addressOf(other, memory));
    }

    /** Points the entry of a handle, which must exist, to memory without a record. */
    public static void pointToNothing(PackedTable table, Handle handle) {
        TableMemory memory = table.memory();
        HandleKey key = HandleKey.of(handle, memory.dictionaries(), memory.seed());
        if (memory.handles().seek(key.hash(), key) == 0) {
            throw new IllegalArgumentException("no row has " + handle);
        }
        memory.handles().replace(key.hash(), ADDRESS_WITHOUT_RECORD);
    }

    private static long addressOf(Puri puri, TableMemory memory) {
        PuriKey key = new PuriKey(puri, memory.dictionaries(), memory.seed());
        return memory.puris().seek(key.hash(), key);
    }
}
