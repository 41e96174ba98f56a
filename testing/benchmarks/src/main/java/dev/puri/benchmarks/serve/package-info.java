/** Servers in separate processes: the resolver, and baselines that a user would write instead. */
@NullMarked
package dev.puri.benchmarks.serve;

import org.jspecify.annotations.NullMarked;
