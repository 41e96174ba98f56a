/** Answers that wait until the table has seen an event. */
@org.jspecify.annotations.NullMarked
package dev.puri.tail.wait;
