/** The Maven goal {@code puri:generate}: constants of declared collections. */
@NullMarked
package dev.puri.maven;

import org.jspecify.annotations.NullMarked;
