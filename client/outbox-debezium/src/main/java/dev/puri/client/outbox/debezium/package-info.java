/** Tells an outbox relay on PostgreSQL of new rows through the embedded Debezium engine. */
@NullMarked
package dev.puri.client.outbox.debezium;

import org.jspecify.annotations.NullMarked;
