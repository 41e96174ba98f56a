/**
 * Auto-configuration of the client for Spring Boot 3.5 and 4.0.
 *
 * <pre>
 * puri.* ─▶ PuriProperties ─┬▶ PublisherAutoConfiguration ─▶ IdentityPublisher, Events, Declarations ─▶ metrics
 *                           ├▶ ResolverAutoConfiguration ──▶ ResolverClient ──┬▶ health, metrics
 *                           └▶ OutboxAutoConfiguration ────▶ RelayLifecycle ──┘
 *                                                          ▶ Outbox ─▶ TransactionOutbox
 * StorageAutoConfiguration ─▶ Jackson modules, converters
 * </pre>
 *
 * <p>Applications inject {@link dev.puri.client.IdentityPublisher}, {@link dev.puri.client.resolve.ResolverClient},
 * {@link dev.puri.client.Events} and {@link dev.puri.spring.boot.TransactionOutbox}. A bean that the application
 * defines replaces the starter's bean of the same type.
 */
@NullMarked
package dev.puri.spring.boot;

import org.jspecify.annotations.NullMarked;
