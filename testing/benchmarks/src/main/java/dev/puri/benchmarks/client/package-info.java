/** {@code puri bench client}. */
@NullMarked
package dev.puri.benchmarks.client;

import org.jspecify.annotations.NullMarked;
