/** {@code puri bench micro}: benchmarks of single operations with JMH. */
@NullMarked
package dev.puri.benchmarks.micro;

import org.jspecify.annotations.NullMarked;
