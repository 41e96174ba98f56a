/** Servers in processes of their own: the resolver, and servers that a user would write instead. */
@NullMarked
package dev.puri.benchmarks.serve;

import org.jspecify.annotations.NullMarked;
