/** Reads a server's settings from flags, environment variables and files into a record. */
@NullMarked
package dev.puri.settings;

import org.jspecify.annotations.NullMarked;
