package dev.puri.http;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A bounded cache of the authorizations of verified tokens, by the hash of the token. */
final class VerifiedTokens {
    private final Cache<TokenHash, Authorization> cache;

    /**
     * @param lifetime the time after which a token leaves the cache and must be verified again
     */
    VerifiedTokens(int maxTokens, Duration lifetime) {
        cache = Caffeine.newBuilder()
                .maximumSize(maxTokens)
                .expireAfterWrite(lifetime)
                .executor(Runnable::run)
                .build();
    }

    /** Returns the authorization of a token; null if the token is not cached or has expired. */
    @Nullable
    Authorization find(TokenHash hash, long nowSeconds) {
        Authorization found = cache.getIfPresent(hash);
        return found == null || found.expiresAtSeconds() <= nowSeconds ? null : found;
    }

    void add(TokenHash hash, Authorization authorization) {
        cache.put(hash, authorization);
    }

    long size() {
        return cache.estimatedSize();
    }
}
