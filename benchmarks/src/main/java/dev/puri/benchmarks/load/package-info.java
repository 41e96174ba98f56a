/** Clients that send requests and events, and measure answers. */
@NullMarked
package dev.puri.benchmarks.load;

import org.jspecify.annotations.NullMarked;
