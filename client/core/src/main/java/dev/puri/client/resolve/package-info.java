/**
 * The resolver client: looks up identities, caches the answers, and reads rows from several shards.
 *
 * <pre>{@code
 * ResolverOptions options = ResolverOptions.at("http://resolver-1:8080", "http://resolver-2:8080")
 *         .hedgeAfter(Duration.ofMillis(50))
 *         .cacheSize(100_000)
 *         .build();
 * try (ResolverClient resolver = ResolverClient.open(options)) {
 *     Verdict verdict = resolver.resolve("soundcloud:tracks:123");
 *     if (verdict instanceof Verdict.Found found) {
 *         use(found.placement().shard(), found.placement().uuid());
 *     }
 *
 *     Scatter scatter = new Scatter(resolver, 8, Duration.ofSeconds(2));
 *     List<Gathered<String>> titles = scatter.gather(
 *                     Ref.all(List.of("soundcloud:tracks:123", "trk_4k7vx9tz2nqr8w3")),
 *                     (shard, located) -> titlesOf(shard, located))
 *             .toCompletableFuture()
 *             .join();
 * }
 * }</pre>
 */
@NullMarked
package dev.puri.client.resolve;

import org.jspecify.annotations.NullMarked;
