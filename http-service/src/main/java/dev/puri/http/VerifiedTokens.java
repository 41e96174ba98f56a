package dev.puri.http;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A bounded cache of verified tokens by their hashes. */
final class VerifiedTokens {
    private final Cache<TokenHash, Authorization> cache;

    /**
     * @param lifetime after which a token is verified again; so unused tokens leave the cache
     */
    VerifiedTokens(int maxTokens, Duration lifetime) {
        cache = Caffeine.newBuilder()
                .maximumSize(maxTokens)
                .expireAfterWrite(lifetime)
                .executor(Runnable::run)
                .build();
    }

    /** Returns null if the token is not cached or has expired. */
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
