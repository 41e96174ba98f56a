package dev.puri.http;

import java.util.Set;

/**
 * The permissions that a bearer token grants.
 *
 * @param callerName the name of the token's owner, for the log; untrusted text
 * @param expiresAtSeconds the time at which the token expires, in seconds since the epoch
 */
record Authorization(String callerName, Set<Scope> scopes, long expiresAtSeconds) {
    Authorization {
        scopes = Set.copyOf(scopes);
    }
}
