/** Files and digests that several commands have in common. */
@NullMarked
package dev.puri.cli.files;

import org.jspecify.annotations.NullMarked;
