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
 * @param path a fixed path, or a path with one parameter as its last segment: {@code /v1/identities/{ref}}
 * @param scope the scope that the bearer token must have; {@link Scope#NONE} if no token is needed
 * @param queryParameters the accepted query parameters. Requests with other parameters are refused, because a response
 *     that ignores a misspelt parameter would be wrong
 * @param ignoresUnknownQuery whether unknown query parameters are ignored instead
 * @param header a header of the route's responses; null for none
 * @param endpoint serves the requests
 */
public record Route(
        String method,
        String path,
        Scope scope,
        Set<String> queryParameters,
        boolean ignoresUnknownQuery,
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
        queryParameters = Set.copyOf(queryParameters);
        int brace = path.indexOf('{');
        boolean isWellFormed = path.startsWith("/")
                && (brace < 0
                        || path.charAt(brace - 1) == '/'
                                && path.endsWith("}")
                                && path.indexOf('/', brace) < 0
                                && path.indexOf('{', brace + 1) < 0);
        if (!isWellFormed) {
            throw new IllegalArgumentException(
                    "a path must begin with / and may have one {parameter}, as its last segment: " + path);
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
     * @param anchor a class of the module that contains the OpenAPI description
     * @param resource the resource name of the description, relative to the class
     */
    public static Route openApi(Class<?> anchor, String resource) {
        try (InputStream in = Objects.requireNonNull(anchor.getResourceAsStream(resource), resource)) {
            byte[] openApi = in.readAllBytes();
            return get("/openapi.json", Scope.NONE, exchange -> exchange.answer(200, "application/json", openApi));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns a copy of this route that also accepts the given query parameters. */
    public Route withQueryParameters(String... names) {
        Set<String> allNames = new HashSet<>(queryParameters);
        allNames.addAll(Set.of(names));
        return new Route(method, path, scope, allNames, ignoresUnknownQuery, header, endpoint);
    }

    /** Returns a copy of this route that ignores unknown query parameters. */
    public Route ignoringUnknownQuery() {
        return new Route(method, path, scope, queryParameters, true, header, endpoint);
    }

    /** Returns a copy of this route with a header on its responses. */
    public Route withHeader(DynamicHeader newHeader) {
        return new Route(method, path, scope, queryParameters, ignoresUnknownQuery, newHeader, endpoint);
    }

    boolean hasParameter() {
        return path.endsWith("}");
    }

    /** Returns the path without its parameter. It ends with a slash if the path has a parameter. */
    String fixedPart() {
        return hasParameter() ? path.substring(0, path.indexOf('{')) : path;
    }
}
