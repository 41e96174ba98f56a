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
 * Random queries like those of people, the same in every run. Of twenty queries, five are a frequent or rare word; five
 * are two words of one document; three are a phrase of two words; three are the beginning of a word; four are a word
 * with a wrong letter.
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

    /** Returns a query without highlights, because the baseline does not compute them. */
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

    /** Returns a query of a kind. A blank at the end means that the last word is complete. */
    private String next(int kind) {
        if (kind < 5) {
            return Vocabulary.searchWord(random) + ' ';
        }
        String[] name = name();
        if (kind < 10) {
            return name[0] + ' ' + name[name.length - 1] + ' ';
        }
        if (kind < 13) {
            return '"' + name[0] + ' ' + name[1] + '"';
        }
        if (kind < 16) {
            return name[1].substring(0, 3);
        }
        int wrong = 1 + random.nextInt(name[0].length() - 1);
        return name[0].substring(0, wrong) + 'q' + name[0].substring(wrong + 1) + ' ';
    }

    /** Returns the words of the name or title of a random document. */
    private String[] name() {
        Map<String, String> attributes = SearchDocuments.attributes(random.nextLong(documents));
        String name = attributes.getOrDefault("title", attributes.getOrDefault("name", attributes.get("text")));
        return String.valueOf(name).split(" ", -1);
    }
}
