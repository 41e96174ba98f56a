/**
 * The search index as an interface, which each engine implements.
 *
 * <pre>
 * puri.identities.v1 ──▶ IDENTITY entries: all identities, listed in the order of creation
 * puri.documents.v1  ──▶ DOCUMENT entries: found by their words
 * </pre>
 *
 * An identity has an IDENTITY entry and may have a DOCUMENT entry. They are separate because records of the two topics
 * have no order between them; each entry applies the changes of one partition in its order.
 */
@org.jspecify.annotations.NullMarked
package dev.puri.search.index;
