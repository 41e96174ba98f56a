/**
 * Finds partitions that {@code read_committed} consumers cannot read further because a transaction never ends.
 *
 * <pre>
 * brokers ──BrokerTransactions──▶ StallTimer: stalled partitions ──▶ TransactionMonitor ──▶ health, metric, log
 *                                 OpenTransaction: state, time limit ──┘
 * </pre>
 */
@NullMarked
package dev.puri.projection.transactions;

import org.jspecify.annotations.NullMarked;
