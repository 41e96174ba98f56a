package dev.puri.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A path and method that are answered. A GET route answers HEAD too.
 *
 * @param method {@code GET}, {@code POST} or {@code DELETE}
 * @param path fixed, or ending in one parameter: {@code /v1/identities/{ref}}
 * @param scope what a caller must be allowed
 * @param queryNames query parameters that it takes; others are refused, so that a misspelt one is
 *     never taken for an answer without it
 * @param anyQuery whether it ignores query parameters instead
 * @param mark a header that its answers bear at times; null for none
 * @param endpoint what answers it
 */
public record Route(
        String method,
        String path,
        Scope scope,
        Set<String> queryNames,
        boolean anyQuery,
        @Nullable Mark mark,
        Endpoint endpoint) {
    /**
     * A header whose value is known beforehand, so that an answer costs no more than to look.
     *
     * @param header its name
     * @param value asked on the event loop when the answer begins; null leaves the header out
     */
    public record Mark(String header, Supplier<@Nullable String> value) {}

    /**
     * @throws IllegalArgumentException when the path does not begin with {@code /}, or has a parameter
     *     that is not its last segment
     */
    public Route {
        queryNames = Set.copyOf(queryNames);
        int brace = path.indexOf('{');
        boolean wellFormed = path.startsWith("/")
                && (brace < 0
                        || path.charAt(brace - 1) == '/'
                                && path.endsWith("}")
                                && path.indexOf('/', brace) < 0
                                && path.indexOf('{', brace + 1) < 0);
        if (!wellFormed) {
            throw new IllegalArgumentException("not a path with at most one parameter, at its end: " + path);
        }
    }

    public static Route get(String path, Scope scope, Endpoint endpoint) {
        return new Route("GET", path, scope, Set.of(), false, null, endpoint);
    }

    public static Route post(String path, Scope scope, Endpoint endpoint) {
        return new Route("POST", path, scope, Set.of(), false, null, endpoint);
    }

    public static Route delete(String path, Scope scope, Endpoint endpoint) {
        return new Route("DELETE", path, scope, Set.of(), false, null, endpoint);
    }

    /**
     * {@code GET /openapi.json}.
     *
     * @param module in whose module the description lies
     * @param resource where
     */
    public static Route openApi(Class<?> module, String resource) {
        try (InputStream in = Objects.requireNonNull(module.getResourceAsStream(resource), resource)) {
            byte[] openApi = in.readAllBytes();
            return get("/openapi.json", Scope.NONE, exchange -> exchange.answer(200, "application/json", openApi));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The same route, taking these query parameters too. */
    public Route taking(String... names) {
        Set<String> more = new HashSet<>(queryNames);
        more.addAll(Set.of(names));
        return new Route(method, path, scope, more, anyQuery, mark, endpoint);
    }

    /** The same route, ignoring whatever stands in the query. */
    public Route ignoringQuery() {
        return new Route(method, path, scope, queryNames, true, mark, endpoint);
    }

    /** The same route, whose answers bear a mark. */
    public Route marked(Mark with) {
        return new Route(method, path, scope, queryNames, anyQuery, with, endpoint);
    }

    boolean hasParameter() {
        return path.endsWith("}");
    }

    /** What stands before the parameter, ending in a slash; the whole path where there is none. */
    String prefix() {
        return hasParameter() ? path.substring(0, path.indexOf('{')) : path;
    }
}
