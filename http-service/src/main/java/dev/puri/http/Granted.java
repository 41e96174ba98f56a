package dev.puri.http;

import java.util.Set;

/**
 * What a token allows its bearer.
 *
 * @param bearer a name for the log; from outside
 * @param expiresAtSeconds since 1970; no token is good from then on
 */
record Granted(String bearer, Set<Scope> scopes, long expiresAtSeconds) {
    Granted {
        scopes = Set.copyOf(scopes);
    }
}
