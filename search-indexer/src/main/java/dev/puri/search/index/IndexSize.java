package dev.puri.search.index;

/**
 * The size of an index.
 *
 * @param identities entries of kind identity
 * @param documents entries of kind document
 * @param gone deleted or replaced entries that still take space
 * @param bytes size on disk
 */
public record IndexSize(long identities, long documents, long gone, long bytes) {}
