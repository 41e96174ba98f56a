/** The {@code puri} command. */
@NullMarked
package dev.puri.cli;

import org.jspecify.annotations.NullMarked;
