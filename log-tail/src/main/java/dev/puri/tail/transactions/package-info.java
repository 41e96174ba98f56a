/**
 * Finds partitions that cannot be read any further because a transaction in them never ends.
 *
 * <pre>
 * brokers ──BrokerTransactions──▶ StableOffsets: which partitions do not move ──▶ TransactionMonitor ──▶ health, metric, log
 *                                 OpenTransaction: whose fault, how long it may take ──┘
 * </pre>
 */
@NullMarked
package dev.puri.tail.transactions;

import org.jspecify.annotations.NullMarked;
