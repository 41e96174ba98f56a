/** Fixtures for tests on a real broker. */
@NullMarked
package dev.puri.testkit;

import org.jspecify.annotations.NullMarked;
