/** Identities, documents and requests, made from numbers and seeds. */
@NullMarked
package dev.puri.benchmarks.data;

import org.jspecify.annotations.NullMarked;
