/** Servers that are measured, each in a process of its own: the resolver, and what a user would write instead. */
@NullMarked
package dev.puri.benchmarks.serve;

import org.jspecify.annotations.NullMarked;
