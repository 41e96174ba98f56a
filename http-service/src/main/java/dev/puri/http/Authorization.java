package dev.puri.http;

import java.util.Set;

/**
 * The permissions of a token.
 *
 * @param bearer the bearer's name, for the log; untrusted text
 * @param expiresAtSeconds when the token expires, in s since the epoch
 */
record Authorization(String bearer, Set<Scope> scopes, long expiresAtSeconds) {
    Authorization {
        scopes = Set.copyOf(scopes);
    }
}
