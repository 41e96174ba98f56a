package dev.puri.spring.boot;

import dev.puri.client.resolve.CacheStatistics;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverException;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reports whether resolvers answer: UP when a look-up gets a verdict, whichever that is. */
final class ResolverHealth {
    /** Nobody registers it: the namespace {@code puri} is the registry's own. Unknown names are not cached. */
    private static final Ref PROBE = Ref.of("puri:health:probe");

    private final Map<String, IdentityResolver> resolvers;

    ResolverHealth(Map<String, IdentityResolver> resolvers) {
        this.resolvers = Map.copyOf(resolvers);
    }

    HealthReport report() {
        Map<String, HealthReport> parts = new LinkedHashMap<>();
        resolvers.forEach((name, resolver) -> parts.put(name, report(resolver)));
        return HealthReport.of(parts);
    }

    private static HealthReport report(IdentityResolver resolver) {
        Map<String, Object> details = new LinkedHashMap<>();
        if (resolver instanceof ResolverClient client) {
            CacheStatistics cache = client.cacheStatistics();
            details.put("feed", cache.feed().toString());
            String trouble = cache.trouble();
            if (trouble != null) {
                details.put("feedTrouble", trouble);
            }
        }
        try {
            resolver.resolve(PROBE);
            return new HealthReport(HealthReport.UP, details);
        } catch (ResolverException e) {
            details.put("kind", e.kind().toString());
            details.put("error", String.valueOf(e.getMessage()));
            return new HealthReport(HealthReport.DOWN, details);
        }
    }
}
