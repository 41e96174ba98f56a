/**
 * The whole identity table inside a service: look-ups in memory, without a network. {@code docs/embedded-resolver.md}
 * has an example.
 */
@NullMarked
package dev.puri.client.embedded;

import org.jspecify.annotations.NullMarked;
