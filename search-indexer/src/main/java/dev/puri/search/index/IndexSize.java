package dev.puri.search.index;

/**
 * How large an index is.
 *
 * @param identities entries of that kind
 * @param documents entries of that kind
 * @param gone entries that were removed or replaced and still take space
 * @param bytes on disk
 */
public record IndexSize(long identities, long documents, long gone, long bytes) {}
