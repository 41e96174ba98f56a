package dev.puri.http;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;

/**
 * {@code GET /health/started}, {@code /health/live} and {@code /health/ready}: 200 when every check of
 * that kind is up, else 503, with the checks and their details as JSON. Paths and members are those of
 * MicroProfile Health 4.0, which orchestrators' dashboards know.
 */
public final class Health {
    /** What a check asks. */
    public enum Kind {
        /** Has it come up for the first time? */
        STARTED,
        /** Would a restart of the process help? Down means so. */
        LIVE,
        /** May requests be sent to it now? */
        READY
    }

    /**
     * What a check found.
     *
     * @param details strings, numbers, booleans, lists and maps, for people and dashboards
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
     * Adds a check, or replaces the one of that name.
     *
     * @param check called on the event loop at every request: it must tell what is known, not find out
     */
    public void add(Kind kind, String name, Supplier<State> check) {
        checksOf(kind).put(name, check);
    }

    /** The three routes. */
    public List<Route> routes() {
        return List.of(route(Kind.STARTED, true), route(Kind.LIVE, true), route(Kind.READY, true));
    }

    /** {@code live} and {@code ready} for callers who are to learn nothing more: up or down, and no checks. */
    public List<Route> bareRoutes() {
        return List.of(route(Kind.LIVE, false), route(Kind.READY, false));
    }

    private Map<String, Supplier<State>> checksOf(Kind kind) {
        return switch (kind) {
            case STARTED -> started;
            case LIVE -> live;
            case READY -> ready;
        };
    }

    private Route route(Kind kind, boolean withChecks) {
        String path = "/health/" + kind.name().toLowerCase(Locale.ROOT);
        return Route.get(path, Scope.NONE, exchange -> answer(exchange, checksOf(kind), withChecks))
                .ignoringQuery();
    }

    private static void answer(Exchange exchange, Map<String, Supplier<State>> checks, boolean withChecks) {
        Map<String, State> states = new LinkedHashMap<>();
        checks.forEach((name, check) -> states.put(name, check.get()));
        boolean up = states.values().stream().allMatch(State::up);
        exchange.json(up ? 200 : 503, json -> {
            json.writeStartObject();
            json.writeStringField("status", text(up));
            json.writeArrayFieldStart("checks");
            for (Map.Entry<String, State> check : withChecks ? states.entrySet() : Set.<Map.Entry<String, State>>of()) {
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
