package dev.puri.search;

import dev.puri.http.Exchange;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.http.RefusedException;
import dev.puri.projection.wait.WaitParameters;
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
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The parsed parameters of {@code GET /v1/search}. Parsing is strict: an invalid value is reported, never ignored.
 *
 * @param groupsByShard whether the response lists the results of each shard
 * @param awaitedEvent the event that the search must wait for; null for none
 */
record SearchRequest(
        SearchQuery query, boolean groupsByShard, @Nullable AwaitedEvent awaitedEvent) {
    static final ProblemType INVALID_CURSOR =
            new ProblemType("invalid-cursor", "The cursor is not from this search", 400);

    static final int DEFAULT_LIMIT = 20;
    static final int MAX_LIMIT = 1000;
    static final int MAX_TEXT_LENGTH = 1000;
    static final int MAX_VALUES = 100;
    private static final int MAX_QUOTED_LENGTH = 100;

    /** The parameters on the internal listener. */
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

    /** The parameters on the public listener. */
    static final String[] PUBLIC_PARAMETERS = {
        "q", "collection", "namespace", "order", "limit", "cursor", "facets", "highlight"
    };

    /**
     * An event to wait for, and the identity that it belongs to: either {@code puri} or {@code handle} is null.
     *
     * @param token the position of the event
     */
    record AwaitedEvent(@Nullable Puri puri, @Nullable Handle handle, Position token, Duration maxWait) {}

    /** Parses one value of a parameter. */
    @FunctionalInterface
    private interface ValueParser<T> {
        T parse(String text) throws InvalidNameException;
    }

    /**
     * Parses a request to the internal listener.
     *
     * @throws RefusedException if a parameter is invalid; the message names the parameter and the valid values
     */
    static SearchRequest parse(Exchange exchange, WaitParameters waitParameters) throws RefusedException {
        return new SearchRequest(
                new SearchQuery(
                        queryText(exchange),
                        order(exchange),
                        collections(exchange),
                        namespaces(exchange),
                        values(exchange, "shard", text -> new Shard(text).text(), "a shard's name"),
                        values(exchange, "owner", text -> new Owner(text).text(), "an owner's name"),
                        statuses(exchange),
                        limit(exchange),
                        cursor(exchange),
                        isNotFalse(exchange, "facets"),
                        isNotFalse(exchange, "highlight")),
                groupsByShard(exchange),
                awaitedEvent(exchange, waitParameters));
    }

    /**
     * Parses a request to the public listener.
     *
     * @throws RefusedException if a parameter is invalid; the message names the parameter and the valid values
     */
    static SearchRequest parsePublic(Exchange exchange) throws RefusedException {
        return new SearchRequest(
                new SearchQuery(
                        queryText(exchange),
                        order(exchange),
                        collections(exchange),
                        namespaces(exchange),
                        Set.of(),
                        Set.of(),
                        Set.of(Row.Status.ACTIVE),
                        limit(exchange),
                        cursor(exchange),
                        isNotFalse(exchange, "facets"),
                        isNotFalse(exchange, "highlight")),
                false,
                null);
    }

    private static @Nullable String singleValue(Exchange exchange, String name) throws RefusedException {
        List<String> values = exchange.queryAll(name);
        if (values.size() > 1) {
            throw invalid(name, "it may be given only once");
        }
        return values.isEmpty() ? null : values.getFirst();
    }

    private static @Nullable String queryText(Exchange exchange) throws RefusedException {
        String text = singleValue(exchange, "q");
        if (text != null && text.length() > MAX_TEXT_LENGTH) {
            throw invalid("q", "a text has at most " + MAX_TEXT_LENGTH + " characters");
        }
        if (text != null && TextAnalysis.words(text).size() > ParsedQuery.MAX_WORDS) {
            throw invalid("q", "a text has at most " + ParsedQuery.MAX_WORDS + " words");
        }
        return text;
    }

    private static Order order(Exchange exchange) throws RefusedException {
        String text = singleValue(exchange, "q");
        String name = singleValue(exchange, "order");
        boolean isList = text == null || text.isBlank();
        if (name == null) {
            return isList ? Order.NEWEST : Order.RELEVANCE;
        }
        if (!isList) {
            throw invalid("order", "only lists, without q, have an order; a text search is ordered by relevance");
        }
        return switch (name) {
            case "newest" -> Order.NEWEST;
            case "oldest" -> Order.OLDEST;
            default -> throw invalid("order", "it must be newest or oldest, but is " + quote(name));
        };
    }

    private static Set<String> collections(Exchange exchange) throws RefusedException {
        return values(
                exchange,
                "collection",
                text -> Puri.parse(text + ":x").qualifiedCollection(),
                "a collection as namespace:collection");
    }

    private static Set<String> namespaces(Exchange exchange) throws RefusedException {
        return values(exchange, "namespace", text -> Puri.parse(text + ":x:x").namespace(), "a namespace");
    }

    private static <T> Set<T> values(Exchange exchange, String name, ValueParser<T> parser, String expectation)
            throws RefusedException {
        List<String> texts = exchange.queryAll(name);
        if (texts.size() > MAX_VALUES) {
            throw invalid(name, "it may be given at most " + MAX_VALUES + " times");
        }
        Set<T> values = new HashSet<>();
        for (String text : texts) {
            try {
                values.add(parser.parse(text));
            } catch (InvalidNameException e) {
                throw invalid(name, "not " + expectation + ": " + quote(text));
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
                default -> throw invalid("status", "it must be active, merged or deleted, but is " + quote(text));
            }
        }
        return statuses.isEmpty() ? Set.of(Row.Status.ACTIVE) : statuses;
    }

    private static int limit(Exchange exchange) throws RefusedException {
        String text = singleValue(exchange, "limit");
        if (text == null) {
            return DEFAULT_LIMIT;
        }
        int limit = text.matches("[0-9]{1,4}") ? Integer.parseInt(text) : 0;
        if (limit < 1 || limit > MAX_LIMIT) {
            throw invalid("limit", "it must be a number from 1 to " + MAX_LIMIT + ", but is " + quote(text));
        }
        return limit;
    }

    private static @Nullable Cursor cursor(Exchange exchange) throws RefusedException {
        String text = singleValue(exchange, "cursor");
        try {
            return text == null ? null : new Cursor(text);
        } catch (IllegalArgumentException e) {
            throw new RefusedException(INVALID_CURSOR, Problem.sentence(String.valueOf(e.getMessage())));
        }
    }

    /** Parses a boolean parameter; an absent parameter is true. */
    private static boolean isNotFalse(Exchange exchange, String name) throws RefusedException {
        String text = singleValue(exchange, name);
        return switch (text == null ? "true" : text) {
            case "true" -> true;
            case "false" -> false;
            default -> throw invalid(name, "it must be true or false, but is " + quote(String.valueOf(text)));
        };
    }

    private static boolean groupsByShard(Exchange exchange) throws RefusedException {
        String text = singleValue(exchange, "groupBy");
        if (text != null && !text.equals("shard")) {
            throw invalid("groupBy", "it must be shard, but is " + quote(text));
        }
        return text != null;
    }

    private static @Nullable AwaitedEvent awaitedEvent(Exchange exchange, WaitParameters waitParameters)
            throws RefusedException {
        String at = singleValue(exchange, "at");
        String wait = singleValue(exchange, "wait");
        String ref = singleValue(exchange, "ref");
        if (at == null) {
            if (wait != null || ref != null) {
                throw invalid(wait == null ? "ref" : "wait", "it needs the parameter at, the token of an event");
            }
            return null;
        }
        Position token = WaitParameters.parseToken(at);
        Duration maxWait = waitParameters.parseWait(wait);
        if (ref == null) {
            throw invalid(
                    "at",
                    "it needs the parameter ref, the pURI or handle of the identity, which the token does not contain");
        }
        try {
            return Handle.looksLike(ref)
                    ? new AwaitedEvent(null, Handle.parse(ref), token, maxWait)
                    : new AwaitedEvent(Puri.parse(ref), null, token, maxWait);
        } catch (InvalidNameException e) {
            throw invalid("ref", String.valueOf(e.getMessage()));
        }
    }

    private static RefusedException invalid(String parameter, String rule) {
        return new RefusedException(ProblemType.INVALID_PARAMETER, parameter + ": " + rule + ".");
    }

    private static String quote(String text) {
        return '"' + (text.length() > MAX_QUOTED_LENGTH ? text.substring(0, MAX_QUOTED_LENGTH) + "…" : text) + '"';
    }

    /** Returns the text of a status in requests and responses. */
    static String text(Row.Status status) {
        return status.name().toLowerCase(Locale.ROOT);
    }
}
