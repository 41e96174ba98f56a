/** The Kafka Streams topology that decides events and claims and writes the table of identities. */
@NullMarked
package dev.puri.registry;

import org.jspecify.annotations.NullMarked;
