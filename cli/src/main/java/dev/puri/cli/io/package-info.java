/** Files, logs and rates that several commands have in common. */
@NullMarked
package dev.puri.cli.io;

import org.jspecify.annotations.NullMarked;
