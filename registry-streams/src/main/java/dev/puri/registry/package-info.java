/** The Kafka Streams topology, which decides events and claims of handles and writes the topic of identities. */
@NullMarked
package dev.puri.registry;

import org.jspecify.annotations.NullMarked;
