package dev.puri.resolver.table;

/**
 * The memory of a table: the records, the two indexes that lead to them, and the dictionaries of the words to which the
 * records refer by code.
 *
 * @param slab has the records and the slots of both indexes
 * @param seed the seed of the hashes of both indexes
 */
record TableMemory(Slab slab, Index puris, Index handles, Dictionaries dictionaries, long seed) {
    /** Creates the memory of an empty table. */
    static TableMemory withSeed(long seed) {
        Slab slab = new Slab();
        return new TableMemory(slab, new Index(slab), new Index(slab), new Dictionaries(), seed);
    }
}
