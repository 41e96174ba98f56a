/**
 * The interfaces of a search index, {@link dev.puri.search.index.SearchIndex} and
 * {@link dev.puri.search.index.IndexStore}, and their values. Each engine implements the interfaces.
 *
 * <pre>
 * puri.identities.v1 ──▶ IDENTITY entries: all identities, for lists in the order of creation
 * puri.documents.v1  ──▶ DOCUMENT entries: attributes, for text searches
 * </pre>
 *
 * An identity has an IDENTITY entry and may have a DOCUMENT entry. The two entries are separate, because the records of
 * different topics have no order. So each entry depends on one partition only, and its changes apply in order.
 */
@org.jspecify.annotations.NullMarked
package dev.puri.search.index;
