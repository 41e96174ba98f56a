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
 * A method and path with its endpoint. A GET route serves HEAD too.
 *
 * @param method {@code GET}, {@code POST} or {@code DELETE}
 * @param path fixed, or with one parameter at its end: {@code /v1/identities/{ref}}
 * @param scope the scope that the caller's token must have
 * @param queryNames accepted query parameters; others are refused, because ignoring a misspelt one would give a wrong
 *     response
 * @param anyQuery whether unknown query parameters are ignored instead
 * @param header a header of the route's responses; null for none
 * @param endpoint serves the requests
 */
public record Route(
        String method,
        String path,
        Scope scope,
        Set<String> queryNames,
        boolean anyQuery,
        @Nullable DynamicHeader header,
        Endpoint endpoint) {
    /**
     * A response header with a value that changes over time.
     *
     * @param value called on the event loop for each response, so it must be fast; null omits the header
     */
    public record DynamicHeader(String name, Supplier<@Nullable String> value) {}

    /**
     * @throws IllegalArgumentException if the path does not begin with {@code /}, or has a parameter that is not its
     *     last segment
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
     * Returns the route {@code GET /openapi.json}.
     *
     * @param module a class of the module that contains the description
     * @param resource the description's resource name, relative to the class
     */
    public static Route openApi(Class<?> module, String resource) {
        try (InputStream in = Objects.requireNonNull(module.getResourceAsStream(resource), resource)) {
            byte[] openApi = in.readAllBytes();
            return get("/openapi.json", Scope.NONE, exchange -> exchange.answer(200, "application/json", openApi));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns this route with further accepted query parameters. */
    public Route taking(String... names) {
        Set<String> more = new HashSet<>(queryNames);
        more.addAll(Set.of(names));
        return new Route(method, path, scope, more, anyQuery, header, endpoint);
    }

    /** Returns this route, ignoring unknown query parameters. */
    public Route ignoringQuery() {
        return new Route(method, path, scope, queryNames, true, header, endpoint);
    }

    /** Returns this route with a header on its responses. */
    public Route withHeader(DynamicHeader newHeader) {
        return new Route(method, path, scope, queryNames, anyQuery, newHeader, endpoint);
    }

    boolean hasParameter() {
        return path.endsWith("}");
    }

    /** Returns the path up to the parameter, with the slash; without a parameter the whole path. */
    String prefix() {
        return hasParameter() ? path.substring(0, path.indexOf('{')) : path;
    }
}
