/** Reports new rows to an outbox relay on PostgreSQL, by the embedded Debezium engine. */
@NullMarked
package dev.puri.client.outbox.debezium;

import org.jspecify.annotations.NullMarked;
