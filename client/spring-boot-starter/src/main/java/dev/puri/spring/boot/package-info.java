/**
 * Spring Boot's auto-configuration of the client, for Boot 3.5 and 4.0.
 *
 * <pre>
 * puri.* ─▶ PuriProperties ─┬▶ PublisherAutoConfiguration ─▶ IdentityPublisher, Events, Declarations
 *                           ├▶ ResolverAutoConfiguration ──▶ ResolverClient ──┬▶ health, metrics
 *                           └▶ OutboxAutoConfiguration ────▶ RelayLifecycle ──┘
 *                                                          ▶ Outbox ─▶ TransactionOutbox
 * StorageAutoConfiguration ─▶ Jackson modules, converters
 * </pre>
 *
 * <p>What an application injects is {@link dev.puri.client.IdentityPublisher}, {@link
 * dev.puri.client.resolve.ResolverClient}, {@link dev.puri.client.Events} and {@link
 * dev.puri.spring.boot.TransactionOutbox}. A bean of the application's own takes the place of each.
 */
@NullMarked
package dev.puri.spring.boot;

import org.jspecify.annotations.NullMarked;
