package dev.puri.http;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * A bounded cache of verified tokens by their hashes. It has two generations: a token that is used moves to the newer
 * one. When the newer one is full, it becomes the older one, and the previous older one is dropped.
 */
final class VerifiedTokens {
    private final int generationSize;
    private volatile ConcurrentMap<TokenHash, Authorization> newer = new ConcurrentHashMap<>();
    private volatile ConcurrentMap<TokenHash, Authorization> older = new ConcurrentHashMap<>();

    VerifiedTokens(int maxTokens) {
        this.generationSize = Math.max(1, maxTokens / 2);
    }

    /** Returns null if the token is not cached or has expired. */
    @Nullable
    Authorization find(TokenHash hash, long nowSeconds) {
        Authorization found = newer.get(hash);
        if (found == null) {
            found = older.get(hash);
            if (found != null) {
                add(hash, found);
            }
        }
        return found == null || found.expiresAtSeconds() <= nowSeconds ? null : found;
    }

    void add(TokenHash hash, Authorization authorization) {
        if (newer.size() >= generationSize) {
            rotate();
        }
        newer.put(hash, authorization);
    }

    int size() {
        return newer.size() + older.size();
    }

    private synchronized void rotate() {
        if (newer.size() >= generationSize) {
            older = newer;
            newer = new ConcurrentHashMap<>();
        }
    }
}
