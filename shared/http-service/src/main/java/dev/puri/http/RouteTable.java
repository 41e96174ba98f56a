package dev.puri.http;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Finds the route of a request: first among fixed paths, then among paths with a parameter, in the order of
 * declaration. Paths are compared without percent-decoding: {@code /v1/%73tats} does not match the route {@code
 * /v1/stats}.
 */
final class RouteTable {
    private final Map<String, Map<String, MeasuredRoute>> byPath = new LinkedHashMap<>();
    private final Map<String, Map<String, MeasuredRoute>> byPrefix = new LinkedHashMap<>();

    /** The result of a look-up. */
    sealed interface Match {}

    /**
     * The route of the method and path.
     *
     * @param parameter the path's parameter, undecoded; empty if the route has none
     */
    record Found(MeasuredRoute route, String parameter) implements Match {}

    /** The path exists, but not for this method. */
    record MethodNotAllowed(Set<String> allowed) implements Match {}

    /** No route has the path. */
    record NoSuchPath(String detail) implements Match {}

    RouteTable(String listener, List<Route> routes, Metrics metrics) {
        for (Route route : routes) {
            Map<String, Map<String, MeasuredRoute>> table = route.hasParameter() ? byPrefix : byPath;
            MeasuredRoute duplicate = table.computeIfAbsent(route.fixedPart(), part -> new TreeMap<>())
                    .put(route.method(), new MeasuredRoute(listener, route, metrics));
            if (duplicate != null) {
                throw new IllegalArgumentException("duplicate route: " + route.method() + " " + route.path());
            }
        }
    }

    Match find(String method, String path) {
        Map<String, MeasuredRoute> routesByMethod = byPath.get(path);
        if (routesByMethod != null) {
            return findByMethod(routesByMethod, method, "");
        }
        for (Map.Entry<String, Map<String, MeasuredRoute>> candidate : byPrefix.entrySet()) {
            String prefix = candidate.getKey();
            if (!path.startsWith(prefix) || path.length() == prefix.length()) {
                continue;
            }
            if (path.indexOf('/', prefix.length()) >= 0) {
                return new NoSuchPath(
                        "Exactly one path segment must follow " + prefix + "; encode a slash in it as %2F.");
            }
            return findByMethod(candidate.getValue(), method, path.substring(prefix.length()));
        }
        return new NoSuchPath("The paths are " + String.join(", ", paths()) + ".");
    }

    private static Match findByMethod(Map<String, MeasuredRoute> routesByMethod, String method, String parameter) {
        MeasuredRoute route = routesByMethod.get(method.equals("HEAD") ? "GET" : method);
        if (route != null) {
            return new Found(route, parameter);
        }
        Set<String> allowed = new TreeSet<>(routesByMethod.keySet());
        if (allowed.contains("GET")) {
            allowed.add("HEAD");
        }
        return new MethodNotAllowed(allowed);
    }

    private List<String> paths() {
        List<String> paths = new ArrayList<>();
        for (Map<String, Map<String, MeasuredRoute>> table : List.of(byPath, byPrefix)) {
            table.values()
                    .forEach(routesByMethod -> paths.add(
                            routesByMethod.values().iterator().next().route().path()));
        }
        return paths;
    }
}
