package dev.puri.http;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Finds the route of a request: first among fixed paths, then among paths with a parameter, in their order. Paths are
 * compared undecoded, so that a percent-encoded path cannot match another.
 */
final class RouteTable {
    private final Map<String, Map<String, MeasuredRoute>> fixed = new LinkedHashMap<>();
    private final Map<String, Map<String, MeasuredRoute>> withParameter = new LinkedHashMap<>();

    /** The result of a look-up. */
    sealed interface Match {}

    /**
     * @param parameter undecoded; empty if the route has none
     */
    record Found(MeasuredRoute route, String parameter) implements Match {}

    record OtherMethods(Set<String> allowed) implements Match {}

    record NoSuchPath(String detail) implements Match {}

    RouteTable(String listener, List<Route> routes, Metrics metrics) {
        for (Route route : routes) {
            Map<String, Map<String, MeasuredRoute>> paths = route.hasParameter() ? withParameter : fixed;
            MeasuredRoute other = paths.computeIfAbsent(route.prefix(), path -> new TreeMap<>())
                    .put(route.method(), new MeasuredRoute(listener, route, metrics));
            if (other != null) {
                throw new IllegalArgumentException("two routes for " + route.method() + " " + route.path());
            }
        }
    }

    Match find(String method, String path) {
        Map<String, MeasuredRoute> exact = fixed.get(path);
        if (exact != null) {
            return byMethod(exact, method, "");
        }
        for (Map.Entry<String, Map<String, MeasuredRoute>> candidate : withParameter.entrySet()) {
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

    private static Match byMethod(Map<String, MeasuredRoute> methods, String method, String parameter) {
        MeasuredRoute route = methods.get(method.equals("HEAD") ? "GET" : method);
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
        for (Map<String, Map<String, MeasuredRoute>> table : List.of(fixed, withParameter)) {
            table.values()
                    .forEach(methods ->
                            paths.add(methods.values().iterator().next().route().path()));
        }
        return paths;
    }
}
