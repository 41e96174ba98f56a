package dev.puri.search.index;

/**
 * The size of an index.
 *
 * @param identities number of entries of kind identity
 * @param documents number of entries of kind document
 * @param gone number of deleted or replaced entries that still take space on disk
 * @param bytes size on disk, in bytes
 */
public record IndexSize(long identities, long documents, long gone, long bytes) {}
