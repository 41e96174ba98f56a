/** Reads the settings of a server or command from flags, environment variables and files into a record. */
@NullMarked
package dev.puri.settings;

import org.jspecify.annotations.NullMarked;
