package dev.puri.search.words;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Marks the words of a hit that match the query: makes HTML fragments of the hit's attributes, with each matching word
 * in an {@code <em>} element. It analyzes the attributes itself, so the fragments do not depend on the search engine.
 */
public final class Highlighter {
    /**
     * A fragment is not extended beyond this length, but always includes its first match. An attribute of up to this
     * length is one fragment.
     */
    private static final int MAX_FRAGMENT_CHARACTERS = 160;

    /** Maximum number of characters before the first match of a fragment. */
    private static final int MAX_CHARACTERS_BEFORE_MATCH = 60;

    /** Maximum number of fragments of one attribute. */
    private static final int MAX_FRAGMENTS = 3;

    private final List<ParsedQuery.Clause> clauses;

    public Highlighter(ParsedQuery query) {
        clauses = query.clauses();
    }

    /** Returns the fragments by attribute name. Attributes without a match are absent. */
    public Map<String, List<String>> highlight(Map<String, String> attributes) {
        Map<String, List<String>> highlights = new LinkedHashMap<>();
        attributes.forEach((name, text) -> {
            List<TextAnalysis.Word> words = TextAnalysis.words(text);
            boolean[] isMatch = findMatches(words);
            List<String> fragments = text.length() <= MAX_FRAGMENT_CHARACTERS
                    ? wholeText(text, words, isMatch)
                    : fragments(text, words, isMatch);
            if (!fragments.isEmpty()) {
                highlights.put(name, fragments);
            }
        });
        return highlights;
    }

    /** Returns for each word whether it matches a clause. */
    private boolean[] findMatches(List<TextAnalysis.Word> words) {
        boolean[] isMatch = new boolean[words.size()];
        for (ParsedQuery.Clause clause : clauses) {
            switch (clause) {
                case ParsedQuery.WordClause word -> markMatches(word, words, isMatch);
                case ParsedQuery.PhraseClause phrase -> markMatches(phrase, words, isMatch);
                case ParsedQuery.SymbolClause symbolWord -> {
                    // The word without its symbols has a clause of its own.
                }
            }
        }
        return isMatch;
    }

    private static void markMatches(ParsedQuery.WordClause clause, List<TextAnalysis.Word> words, boolean[] isMatch) {
        for (int i = 0; i < isMatch.length; i++) {
            isMatch[i] |= clause.matches(words.get(i).text());
        }
    }

    private static void markMatches(ParsedQuery.PhraseClause clause, List<TextAnalysis.Word> words, boolean[] isMatch) {
        int length = clause.words().size();
        for (int i = 0; i + length <= isMatch.length; i++) {
            boolean matches = true;
            for (int j = 0; matches && j < length; j++) {
                matches = clause.words().get(j).equals(words.get(i + j).text());
            }
            for (int j = 0; matches && j < length; j++) {
                isMatch[i + j] = true;
            }
        }
    }

    private static List<String> wholeText(String text, List<TextAnalysis.Word> words, boolean[] isMatch) {
        int firstMatch = nextMatch(isMatch, 0);
        return firstMatch == isMatch.length
                ? List.of()
                : List.of(fragment(text, 0, text.length(), words, isMatch, firstMatch));
    }

    private static List<String> fragments(String text, List<TextAnalysis.Word> words, boolean[] isMatch) {
        List<String> fragments = new ArrayList<>();
        int fromWord = 0;
        int match = nextMatch(isMatch, 0);
        while (match < isMatch.length && fragments.size() < MAX_FRAGMENTS) {
            int firstWord = match;
            while (firstWord > fromWord
                    && words.get(match).start() - words.get(firstWord - 1).start() <= MAX_CHARACTERS_BEFORE_MATCH) {
                firstWord--;
            }
            int start = words.get(firstWord).start();
            int lastWord = match;
            while (lastWord + 1 < isMatch.length && words.get(lastWord + 1).end() - start <= MAX_FRAGMENT_CHARACTERS) {
                lastWord++;
            }
            fragments.add(fragment(text, start, words.get(lastWord).end(), words, isMatch, match));
            fromWord = lastWord + 1;
            match = nextMatch(isMatch, fromWord);
        }
        return fragments;
    }

    /** Returns the index of the next matching word; the number of words if no other word matches. */
    private static int nextMatch(boolean[] isMatch, int fromWord) {
        int next = fromWord;
        while (next < isMatch.length && !isMatch[next]) {
            next++;
        }
        return next;
    }

    private static String fragment(
            String text, int start, int end, List<TextAnalysis.Word> words, boolean[] isMatch, int firstMatch) {
        StringBuilder html = new StringBuilder(end - start + 32);
        if (start > 0) {
            html.append('…');
        }
        int copiedUntil = start;
        for (int i = firstMatch; i < isMatch.length && words.get(i).end() <= end; i++) {
            if (isMatch[i]) {
                escape(text, copiedUntil, words.get(i).start(), html);
                html.append("<em>");
                escape(text, words.get(i).start(), words.get(i).end(), html);
                html.append("</em>");
                copiedUntil = words.get(i).end();
            }
        }
        escape(text, copiedUntil, end, html);
        if (end < text.length()) {
            html.append('…');
        }
        return html.toString();
    }

    private static void escape(String text, int from, int to, StringBuilder html) {
        for (int i = from; i < to; i++) {
            char c = text.charAt(i);
            switch (c) {
                case '&' -> html.append("&amp;");
                case '<' -> html.append("&lt;");
                case '>' -> html.append("&gt;");
                case '"' -> html.append("&quot;");
                case '\'' -> html.append("&#39;");
                default -> html.append(c);
            }
        }
    }
}
