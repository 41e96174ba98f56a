/**
 * Figures, each beside a baseline in the same run. {@link Main} has a command for each of the packages {@code ingest},
 * {@code table}, {@code resolver}, {@code search}, {@code client} and {@code micro}. They share {@code report}
 * (options, rounds, output), {@code environment} (brokers, processes), {@code data} (identities to measure with),
 * {@code load} (clients) and {@code serve} (servers in processes of their own).
 */
@NullMarked
package dev.puri.benchmarks;

import org.jspecify.annotations.NullMarked;
