/** The Maven goal {@code puri:generate}, which generates Java constants for declared collections. */
@NullMarked
package dev.puri.maven;

import org.jspecify.annotations.NullMarked;
