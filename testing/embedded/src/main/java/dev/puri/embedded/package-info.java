/** Starts a Kafka broker in this process and a schema registry in a child process. */
@NullMarked
package dev.puri.embedded;

import org.jspecify.annotations.NullMarked;
