/**
 * What an index of identities is, whatever engine keeps it.
 *
 * <pre>
 * puri.identities.v1 ──▶ IDENTITY entries: listed in the order of creation, none left out
 * puri.documents.v1  ──▶ DOCUMENT entries: found by their words
 * </pre>
 *
 * An identity has an entry of each kind, or of the first only. They are not joined when they are written:
 * the two topics have no order between them, and an entry of its own for each takes its changes in the
 * order of its own partition.
 */
@org.jspecify.annotations.NullMarked
package dev.puri.search.index;
