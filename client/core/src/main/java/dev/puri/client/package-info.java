/**
 * The client library for services: mints identities, publishes events, and reads and writes declarations of
 * collections.
 */
@NullMarked
package dev.puri.client;

import org.jspecify.annotations.NullMarked;
