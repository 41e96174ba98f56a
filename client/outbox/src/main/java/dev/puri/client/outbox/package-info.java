/** Publishes events of committed transactions: an outbox table in the service's own database, and its relay. */
@NullMarked
package dev.puri.client.outbox;

import org.jspecify.annotations.NullMarked;
