package dev.puri.http;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;

/**
 * Serves {@code GET /health/started}, {@code /health/live} and {@code /health/ready}: 200 if every check of the kind is
 * up, otherwise 503, with the checks and their details as JSON. Paths and JSON members are those of MicroProfile Health
 * 4.0, which dashboards understand.
 */
public final class Health {
    /** The kind of a check. */
    public enum Kind {
        /** Has the server finished starting? */
        STARTED,
        /** Does the process work? Down means that a restart may help. */
        LIVE,
        /** Can the server serve requests now? */
        READY
    }

    /**
     * The result of a check.
     *
     * @param details for people and dashboards: strings, numbers, booleans, lists and maps
     */
    public record State(boolean up, Map<String, Object> details) {
        public static State up(Map<String, Object> details) {
            return new State(true, details);
        }

        public static State down(Map<String, Object> details) {
            return new State(false, details);
        }
    }

    private final Map<String, Supplier<State>> started = new ConcurrentSkipListMap<>();
    private final Map<String, Supplier<State>> live = new ConcurrentSkipListMap<>();
    private final Map<String, Supplier<State>> ready = new ConcurrentSkipListMap<>();

    /**
     * Adds a check, or replaces the check with this name.
     *
     * @param check called on the event loop for each request, so it must not block
     */
    public void add(Kind kind, String name, Supplier<State> check) {
        checksOf(kind).put(name, check);
    }

    /** Returns the routes of all three kinds, with the details of the checks. */
    public List<Route> routes() {
        return List.of(route(Kind.STARTED, true), route(Kind.LIVE, true), route(Kind.READY, true));
    }

    /**
     * Returns the routes of {@code live} and {@code ready} with only the overall status, for callers that must not see
     * details.
     */
    public List<Route> routesWithoutDetails() {
        return List.of(route(Kind.LIVE, false), route(Kind.READY, false));
    }

    private Map<String, Supplier<State>> checksOf(Kind kind) {
        return switch (kind) {
            case STARTED -> started;
            case LIVE -> live;
            case READY -> ready;
        };
    }

    private Route route(Kind kind, boolean withDetails) {
        String path = "/health/" + kind.name().toLowerCase(Locale.ROOT);
        return Route.get(path, Scope.NONE, exchange -> answer(exchange, checksOf(kind), withDetails))
                .ignoringUnknownQuery();
    }

    private static void answer(Exchange exchange, Map<String, Supplier<State>> checks, boolean withDetails) {
        Map<String, State> states = new LinkedHashMap<>();
        checks.forEach((name, check) -> states.put(name, check.get()));
        boolean up = states.values().stream().allMatch(State::up);
        exchange.json(up ? 200 : 503, json -> {
            json.writeStartObject();
            json.writeStringField("status", text(up));
            json.writeArrayFieldStart("checks");
            for (Map.Entry<String, State> check :
                    withDetails ? states.entrySet() : Set.<Map.Entry<String, State>>of()) {
                json.writeStartObject();
                json.writeStringField("name", check.getKey());
                json.writeStringField("status", text(check.getValue().up()));
                json.writeFieldName("data");
                JsonBody.writeValue(json, check.getValue().details());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
        });
    }

    private static String text(boolean up) {
        return up ? "UP" : "DOWN";
    }
}
