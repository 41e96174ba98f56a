/** The client that services embed: it mints names, publishes events and reads collections. */
@NullMarked
package dev.puri.client;

import org.jspecify.annotations.NullMarked;
