/**
 * Benchmarks, most of them with a baseline in the same run. {@link Main} has a command for each of the packages {@code
 * ingest}, {@code table}, {@code resolver}, {@code search}, {@code client} and {@code micro}. They share the packages
 * {@code report} (options, rounds, output), {@code environment} (brokers, processes), {@code data} (test data), {@code
 * load} (clients) and {@code serve} (servers in separate processes).
 */
@NullMarked
package dev.puri.benchmarks;

import org.jspecify.annotations.NullMarked;
