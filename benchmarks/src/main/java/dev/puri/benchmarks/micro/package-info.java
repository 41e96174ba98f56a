/** {@code puri bench micro}: single steps, with JMH. */
@NullMarked
package dev.puri.benchmarks.micro;

import org.jspecify.annotations.NullMarked;
