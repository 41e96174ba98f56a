/** Waits until a table or an index has seen an event. */
@org.jspecify.annotations.NullMarked
package dev.puri.tail.wait;
