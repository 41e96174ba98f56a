package dev.puri.spring.boot;

import dev.puri.client.resolve.CacheStatistics;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverException;
import dev.puri.client.resolve.ResolverException.Kind;
import dev.puri.schemas.serde.UserInfo;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reports whether resolvers answer: UP if a look-up gets any verdict. If the look-up is refused because the client's own bound of pending
 * look-ups is reached, UP if another was answered within {@value #RECENT_SECONDS} s. Else DOWN.
 */
final class ResolverHealth {
    /** A name that nobody can register, since the namespace {@code puri} is reserved. Unknown names are not cached, so it is always sent. */
    private static final Ref PROBE = Ref.of("puri:health:probe");

    /** Longer than the default deadline of a look-up. */
    static final int RECENT_SECONDS = 10;

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
        try {
            if (resolver instanceof ResolverClient client) {
                addFeed(client.cacheStatistics(), details);
            }
            resolver.resolve(PROBE);
            return new HealthReport(HealthReport.UP, details);
        } catch (ResolverException e) {
            details.put("kind", e.kind().toString());
            details.put("error", UserInfo.masked(String.valueOf(e.getMessage())));
            return new HealthReport(
                    e.kind() == Kind.FULL && isAnswering(resolver) ? HealthReport.UP : HealthReport.DOWN, details);
        } catch (RuntimeException e) {
            // A resolver that the application provides may throw anything.
            details.put("error", UserInfo.masked(e.toString()));
            return new HealthReport(HealthReport.DOWN, details);
        }
    }

    /**
     * Whether a resolver has answered recently. A full client alone is no reason for DOWN: without this instance, its load would go to
     * the others. But a client is also full if resolvers hang.
     */
    private static boolean isAnswering(IdentityResolver resolver) {
        return resolver instanceof ResolverClient client
                && isRecent(client.requestStatistics().sinceAnswer());
    }

    static boolean isRecent(@Nullable Duration sinceAnswer) {
        return sinceAnswer != null && sinceAnswer.compareTo(Duration.ofSeconds(RECENT_SECONDS)) <= 0;
    }

    private static void addFeed(CacheStatistics cache, Map<String, Object> details) {
        details.put("feed", cache.feed().toString());
        String trouble = cache.trouble();
        if (trouble != null) {
            details.put("feedTrouble", UserInfo.masked(trouble));
        }
    }
}
