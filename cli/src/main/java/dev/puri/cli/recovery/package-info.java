/** Restores what was lost, from exports and from the events topics. */
@NullMarked
package dev.puri.cli.recovery;

import org.jspecify.annotations.NullMarked;
