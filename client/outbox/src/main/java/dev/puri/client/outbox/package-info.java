/**
 * A transactional outbox: stores events in a table of the service's own database, and publishes the events of committed
 * transactions.
 */
@NullMarked
package dev.puri.client.outbox;

import org.jspecify.annotations.NullMarked;
