package dev.puri.benchmarks.search;

import dev.puri.benchmarks.data.SearchDocuments;
import dev.puri.benchmarks.data.Vocabulary;
import dev.puri.schemas.log.Row;
import dev.puri.search.index.SearchQuery;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Queries as people type them, the same in every run: of twenty queries five are a frequent or a rare word, five two
 * words that a document has, three two words that follow one another in a name, three the beginning of a word, four a
 * word with a wrong letter.
 */
final class MixedQueries {
    private static final int LIMIT = 20;

    private final Random random = new Random(20261120);
    private final long documents;

    private MixedQueries(long documents) {
        this.documents = documents;
    }

    static List<String> of(int count, long documents) {
        MixedQueries queries = new MixedQueries(documents);
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            texts.add(queries.next(i % 20));
        }
        return texts;
    }

    /** Returns a query for a page without highlights, which are made after the page is found. */
    static SearchQuery query(String text) {
        return new SearchQuery(
                text,
                SearchQuery.Order.RELEVANCE,
                Set.of(),
                Set.of(),
                Set.of(),
                Set.of(),
                Set.of(Row.Status.ACTIVE),
                LIMIT,
                null,
                true,
                false);
    }

    static String path(String text) {
        return "/v1/search?q=" + URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** Returns the next query. A blank after the last word means that the word is whole. */
    private String next(int turn) {
        if (turn < 5) {
            return Vocabulary.wanted(random) + ' ';
        }
        String[] name = name();
        if (turn < 10) {
            return name[0] + ' ' + name[name.length - 1] + ' ';
        }
        if (turn < 13) {
            return '"' + name[0] + ' ' + name[1] + '"';
        }
        if (turn < 16) {
            return name[1].substring(0, 3);
        }
        int at = 1 + random.nextInt(name[0].length() - 1);
        return name[0].substring(0, at) + 'q' + name[0].substring(at + 1) + ' ';
    }

    /** Returns the words of some document's name. */
    private String[] name() {
        Map<String, String> attributes = SearchDocuments.attributes(random.nextLong(documents));
        String name = attributes.getOrDefault("title", attributes.getOrDefault("name", attributes.get("text")));
        return String.valueOf(name).split(" ", -1);
    }
}
