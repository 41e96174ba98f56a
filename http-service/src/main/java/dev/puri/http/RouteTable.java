package dev.puri.http;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Finds the route of a request: fixed paths by a map, then the few with a parameter in their order.
 * Paths are compared as they were sent, undecoded, so that no escape can dress one up as another.
 */
final class RouteTable {
    private final Map<String, Map<String, Measured>> fixed = new LinkedHashMap<>();
    private final Map<String, Map<String, Measured>> withParameter = new LinkedHashMap<>();

    /** What became of a look-up. */
    sealed interface Match {}

    /**
     * @param parameter as it was sent, undecoded; empty where the route has none
     */
    record Found(Measured route, String parameter) implements Match {}

    record OtherMethods(Set<String> allowed) implements Match {}

    record NoSuchPath(String detail) implements Match {}

    RouteTable(String listener, List<Route> routes, Metrics metrics) {
        for (Route route : routes) {
            Map<String, Map<String, Measured>> paths = route.hasParameter() ? withParameter : fixed;
            Measured before = paths.computeIfAbsent(route.prefix(), path -> new TreeMap<>())
                    .put(route.method(), new Measured(listener, route, metrics));
            if (before != null) {
                throw new IllegalArgumentException("two routes for " + route.method() + " " + route.path());
            }
        }
    }

    Match find(String method, String path) {
        Map<String, Measured> exact = fixed.get(path);
        if (exact != null) {
            return byMethod(exact, method, "");
        }
        for (Map.Entry<String, Map<String, Measured>> candidate : withParameter.entrySet()) {
            String prefix = candidate.getKey();
            if (!path.startsWith(prefix) || path.length() == prefix.length()) {
                continue;
            }
            if (path.indexOf('/', prefix.length()) >= 0) {
                return new NoSuchPath("One segment follows " + prefix + "; a slash inside it is written %2F.");
            }
            return byMethod(candidate.getValue(), method, path.substring(prefix.length()));
        }
        return new NoSuchPath("The paths are " + String.join(", ", paths()) + ".");
    }

    private static Match byMethod(Map<String, Measured> methods, String method, String parameter) {
        Measured route = methods.get(method.equals("HEAD") ? "GET" : method);
        if (route != null) {
            return new Found(route, parameter);
        }
        Set<String> allowed = new TreeSet<>(methods.keySet());
        if (allowed.contains("GET")) {
            allowed.add("HEAD");
        }
        return new OtherMethods(allowed);
    }

    private List<String> paths() {
        List<String> paths = new ArrayList<>();
        for (Map<String, Map<String, Measured>> table : List.of(fixed, withParameter)) {
            table.values()
                    .forEach(methods ->
                            paths.add(methods.values().iterator().next().route().path()));
        }
        return paths;
    }
}
