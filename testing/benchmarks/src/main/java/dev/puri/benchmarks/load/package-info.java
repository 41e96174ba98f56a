/** Load generators, and clients that measure response times. */
@NullMarked
package dev.puri.benchmarks.load;

import org.jspecify.annotations.NullMarked;
