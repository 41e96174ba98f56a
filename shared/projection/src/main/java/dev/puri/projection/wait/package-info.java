/** Lets a request wait until the table or the index shows the outcome of an event. */
@org.jspecify.annotations.NullMarked
package dev.puri.projection.wait;
