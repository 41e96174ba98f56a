/** Identities, documents and requests, which are computed from numbers and seeds. */
@NullMarked
package dev.puri.benchmarks.data;

import org.jspecify.annotations.NullMarked;
