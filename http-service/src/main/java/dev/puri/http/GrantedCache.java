package dev.puri.http;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Tokens that were verified lately, by their hashes. Two generations: what is used moves into the newer
 * one, and when that is full the older one is forgotten, so that there are never more than twice as many.
 */
final class GrantedCache {
    private final int generation;
    private volatile ConcurrentMap<TokenHash, Granted> newer = new ConcurrentHashMap<>();
    private volatile ConcurrentMap<TokenHash, Granted> older = new ConcurrentHashMap<>();

    GrantedCache(int most) {
        this.generation = Math.max(1, most / 2);
    }

    /** Null when it is not remembered, or not good any more. */
    @Nullable
    Granted find(TokenHash hash, long nowSeconds) {
        Granted found = newer.get(hash);
        if (found == null) {
            found = older.get(hash);
            if (found != null) {
                add(hash, found);
            }
        }
        return found == null || found.expiresAtSeconds() <= nowSeconds ? null : found;
    }

    void add(TokenHash hash, Granted granted) {
        if (newer.size() >= generation) {
            turn();
        }
        newer.put(hash, granted);
    }

    int size() {
        return newer.size() + older.size();
    }

    private synchronized void turn() {
        if (newer.size() >= generation) {
            older = newer;
            newer = new ConcurrentHashMap<>();
        }
    }
}
