/**
 * Spring Boot's auto-configuration of the client, for Boot 3.5 and 4.0.
 *
 * <pre>
 * puri.* ─▶ PuriProperties ─┬▶ PublisherAutoConfiguration ─▶ IdentityPublisher, Events, Declarations ─▶ metrics
 *                           ├▶ ResolverAutoConfiguration ──▶ ResolverClient ──┬▶ health, metrics
 *                           └▶ OutboxAutoConfiguration ────▶ RelayLifecycle ──┘
 *                                                          ▶ Outbox ─▶ TransactionOutbox
 * StorageAutoConfiguration ─▶ Jackson modules, converters
 * </pre>
 *
 * <p>Applications inject {@link dev.puri.client.IdentityPublisher}, {@link dev.puri.client.resolve.ResolverClient}, {@link
 * dev.puri.client.Events} and {@link dev.puri.spring.boot.TransactionOutbox}. A bean that the application defines replaces each of them.
 */
@NullMarked
package dev.puri.spring.boot;

import org.jspecify.annotations.NullMarked;
