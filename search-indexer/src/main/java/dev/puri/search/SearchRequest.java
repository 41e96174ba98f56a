package dev.puri.search;

import dev.puri.http.Exchange;
import dev.puri.http.ProblemType;
import dev.puri.http.RefusedException;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.search.index.Cursor;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.index.SearchQuery.Order;
import dev.puri.search.words.ParsedQuery;
import dev.puri.search.words.TextAnalysis;
import dev.puri.tail.wait.WaitParameters;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The query of {@code GET /v1/search}. Parsing is strict: an invalid value is reported, never ignored.
 *
 * @param query but for where the page begins
 * @param cursor of the page before; null for the first
 * @param byShard whether the answer lists the results of each shard
 * @param awaited the event that the answer must include; null for none
 */
record SearchRequest(
        SearchQuery query,
        @Nullable Cursor cursor,
        boolean byShard,
        @Nullable Awaited awaited) {
    static final ProblemType INVALID_CURSOR =
            new ProblemType("invalid-cursor", "The cursor is none that this search has told", 400);

    static final int DEFAULT_LIMIT = 20;
    static final int MAX_LIMIT = 1000;
    static final int MAX_TEXT = 1000;
    static final int MAX_VALUES = 100;
    private static final int MAX_QUOTED = 100;

    /** What may be asked inside. */
    static final String[] PARAMETERS = {
        "q",
        "collection",
        "namespace",
        "shard",
        "owner",
        "status",
        "order",
        "limit",
        "cursor",
        "groupBy",
        "facets",
        "highlight",
        "at",
        "wait",
        "ref"
    };

    /** What the public may ask. */
    static final String[] PUBLIC_PARAMETERS = {
        "q", "collection", "namespace", "order", "limit", "cursor", "facets", "highlight"
    };

    /**
     * An event, and whose it is.
     *
     * @param puri null when it was named by its handle
     * @param handle null when it was named by its pURI
     */
    record Awaited(@Nullable Puri puri, @Nullable Handle handle, Position token, Duration patience) {}

    /** One value out of a parameter's text. */
    @FunctionalInterface
    private interface Value<T> {
        T of(String text) throws InvalidNameException;
    }

    /**
     * Reads a whole query.
     *
     * @throws RefusedException naming the parameter and what it takes
     */
    static SearchRequest parse(Exchange exchange, WaitParameters waits) throws RefusedException {
        return new SearchRequest(
                new SearchQuery(
                        text(exchange),
                        order(exchange),
                        collections(exchange),
                        namespaces(exchange),
                        all(exchange, "shard", text -> new Shard(text).text(), "a shard's name"),
                        all(exchange, "owner", text -> new Owner(text).text(), "an owner's name"),
                        statuses(exchange),
                        limit(exchange),
                        null,
                        truth(exchange, "facets"),
                        truth(exchange, "highlight")),
                cursor(exchange),
                isByShard(exchange),
                awaited(exchange, waits));
    }

    /** The same of what the public may ask. */
    static SearchRequest parsePublic(Exchange exchange) throws RefusedException {
        return new SearchRequest(
                new SearchQuery(
                        text(exchange),
                        order(exchange),
                        collections(exchange),
                        namespaces(exchange),
                        Set.of(),
                        Set.of(),
                        Set.of(Row.Status.ACTIVE),
                        limit(exchange),
                        null,
                        truth(exchange, "facets"),
                        truth(exchange, "highlight")),
                cursor(exchange),
                false,
                null);
    }

    /** The query, from where the page before ended. */
    SearchQuery fromCursor() {
        return among(query.collections());
    }

    /** The same, among these collections only. */
    SearchQuery among(Set<String> collections) {
        return new SearchQuery(
                query.text(),
                query.order(),
                collections,
                query.namespaces(),
                query.shards(),
                query.owners(),
                query.statuses(),
                query.limit(),
                cursor,
                query.facets(),
                query.highlights());
    }

    private static @Nullable String one(Exchange exchange, String name) throws RefusedException {
        List<String> values = exchange.queryAll(name);
        if (values.size() > 1) {
            throw invalid(name, "it is given more than once");
        }
        return values.isEmpty() ? null : values.getFirst();
    }

    private static @Nullable String text(Exchange exchange) throws RefusedException {
        String text = one(exchange, "q");
        if (text != null && text.length() > MAX_TEXT) {
            throw invalid("q", "a text has " + MAX_TEXT + " characters at most");
        }
        if (text != null && TextAnalysis.words(text).size() > ParsedQuery.MAX_WORDS) {
            throw invalid("q", "a text has " + ParsedQuery.MAX_WORDS + " words at most");
        }
        return text;
    }

    private static Order order(Exchange exchange) throws RefusedException {
        String text = one(exchange, "q");
        String order = one(exchange, "order");
        boolean lists = text == null || text.isBlank();
        if (order == null) {
            return lists ? Order.NEWEST : Order.RELEVANCE;
        }
        if (!lists) {
            throw invalid("order", "what is found by its words comes by relevance; an order is for lists, without q");
        }
        return switch (order) {
            case "newest" -> Order.NEWEST;
            case "oldest" -> Order.OLDEST;
            default -> throw invalid("order", "it is newest or oldest, not " + quoted(order));
        };
    }

    private static Set<String> collections(Exchange exchange) throws RefusedException {
        return all(
                exchange,
                "collection",
                text -> Puri.parse(text + ":x").qualifiedCollection(),
                "a collection, which is written namespace:collection");
    }

    private static Set<String> namespaces(Exchange exchange) throws RefusedException {
        return all(exchange, "namespace", text -> Puri.parse(text + ":x:x").namespace(), "a namespace");
    }

    private static <T> Set<T> all(Exchange exchange, String name, Value<T> value, String what) throws RefusedException {
        List<String> texts = exchange.queryAll(name);
        if (texts.size() > MAX_VALUES) {
            throw invalid(name, "it is taken " + MAX_VALUES + " times at most");
        }
        Set<T> values = new HashSet<>();
        for (String text : texts) {
            try {
                values.add(value.of(text));
            } catch (InvalidNameException e) {
                throw invalid(name, "not " + what + ": " + quoted(text));
            }
        }
        return values;
    }

    private static Set<Row.Status> statuses(Exchange exchange) throws RefusedException {
        Set<Row.Status> statuses = new HashSet<>();
        for (String text : exchange.queryAll("status")) {
            switch (text) {
                case "active" -> statuses.add(Row.Status.ACTIVE);
                case "merged" -> statuses.add(Row.Status.MERGED);
                case "deleted" -> statuses.add(Row.Status.DELETED);
                default -> throw invalid("status", "it is active, merged or deleted, not " + quoted(text));
            }
        }
        return statuses.isEmpty() ? Set.of(Row.Status.ACTIVE) : statuses;
    }

    private static int limit(Exchange exchange) throws RefusedException {
        String text = one(exchange, "limit");
        if (text == null) {
            return DEFAULT_LIMIT;
        }
        int limit = text.matches("[0-9]{1,4}") ? Integer.parseInt(text) : 0;
        if (limit < 1 || limit > MAX_LIMIT) {
            throw invalid("limit", "it is a number from 1 to " + MAX_LIMIT + ", not " + quoted(text));
        }
        return limit;
    }

    private static @Nullable Cursor cursor(Exchange exchange) throws RefusedException {
        String text = one(exchange, "cursor");
        try {
            return text == null ? null : new Cursor(text);
        } catch (IllegalArgumentException e) {
            throw new RefusedException(INVALID_CURSOR, WaitParameters.sentence(e.getMessage() + ""));
        }
    }

    private static boolean truth(Exchange exchange, String name) throws RefusedException {
        String text = one(exchange, name);
        return switch (text == null ? "true" : text) {
            case "true" -> true;
            case "false" -> false;
            default -> throw invalid(name, "it is true or false, not " + quoted(String.valueOf(text)));
        };
    }

    private static boolean isByShard(Exchange exchange) throws RefusedException {
        String text = one(exchange, "groupBy");
        if (text != null && !text.equals("shard")) {
            throw invalid("groupBy", "shard is the one thing to group by, not " + quoted(text));
        }
        return text != null;
    }

    private static @Nullable Awaited awaited(Exchange exchange, WaitParameters waits) throws RefusedException {
        String at = one(exchange, "at");
        String wait = one(exchange, "wait");
        String ref = one(exchange, "ref");
        if (at == null) {
            if (wait != null || ref != null) {
                throw invalid(
                        wait == null ? "ref" : "wait", "it is for the event of a token, and there is no parameter at");
            }
            return null;
        }
        Position token = WaitParameters.token(at);
        Duration time = waits.wait(wait);
        if (ref == null) {
            throw invalid("at", "a token does not say whose event it is; ref has to, by pURI or handle");
        }
        try {
            return Handle.looksLike(ref)
                    ? new Awaited(null, Handle.parse(ref), token, time)
                    : new Awaited(Puri.parse(ref), null, token, time);
        } catch (InvalidNameException e) {
            throw invalid("ref", String.valueOf(e.getMessage()));
        }
    }

    private static RefusedException invalid(String parameter, String what) {
        return new RefusedException(WaitParameters.INVALID_PARAMETER, parameter + ": " + what + ".");
    }

    private static String quoted(String text) {
        return '"' + (text.length() > MAX_QUOTED ? text.substring(0, MAX_QUOTED) + "…" : text) + '"';
    }

    /** A status as it is written. */
    static String text(Row.Status status) {
        return status.name().toLowerCase(Locale.ROOT);
    }
}
