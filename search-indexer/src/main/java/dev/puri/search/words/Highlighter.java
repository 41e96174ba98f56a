package dev.puri.search.words;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Makes highlights: fragments of a hit's attributes with matches between {@code <em>} and {@code </em>} and everything
 * else escaped for HTML. It reads the attributes' texts, so it works the same for every engine.
 */
public final class Highlighter {
    /** Longest fragment, in characters. A text of this length is one fragment. */
    private static final int MAX_FRAGMENT = 160;

    /** Characters that a fragment shows before its first match. */
    private static final int MAX_BEFORE_MATCH = 60;

    /** Fragments of one attribute. */
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
            boolean[] marked = marked(words);
            List<String> fragments =
                    text.length() <= MAX_FRAGMENT ? wholeText(text, words, marked) : fragments(text, words, marked);
            if (!fragments.isEmpty()) {
                highlights.put(name, fragments);
            }
        });
        return highlights;
    }

    private boolean[] marked(List<TextAnalysis.Word> words) {
        boolean[] marked = new boolean[words.size()];
        for (ParsedQuery.Clause clause : clauses) {
            switch (clause) {
                case ParsedQuery.WordClause word -> mark(word, words, marked);
                case ParsedQuery.PhraseClause phrase -> mark(phrase, words, marked);
                case ParsedQuery.SymbolClause symbolWord -> {
                    // The word itself is another clause.
                }
            }
        }
        return marked;
    }

    private static void mark(ParsedQuery.WordClause clause, List<TextAnalysis.Word> words, boolean[] marked) {
        for (int i = 0; i < marked.length; i++) {
            marked[i] |= clause.matches(words.get(i).text());
        }
    }

    private static void mark(ParsedQuery.PhraseClause clause, List<TextAnalysis.Word> words, boolean[] marked) {
        int length = clause.words().size();
        for (int i = 0; i + length <= marked.length; i++) {
            boolean matches = true;
            for (int j = 0; matches && j < length; j++) {
                matches = clause.words().get(j).equals(words.get(i + j).text());
            }
            for (int j = 0; matches && j < length; j++) {
                marked[i + j] = true;
            }
        }
    }

    private static List<String> wholeText(String text, List<TextAnalysis.Word> words, boolean[] marked) {
        int first = nextMarked(marked, 0);
        return first == marked.length ? List.of() : List.of(fragment(text, 0, text.length(), words, marked, first));
    }

    private static List<String> fragments(String text, List<TextAnalysis.Word> words, boolean[] marked) {
        List<String> fragments = new ArrayList<>();
        int from = 0;
        for (int next = nextMarked(marked, 0); next < marked.length && fragments.size() < MAX_FRAGMENTS; ) {
            int match = next;
            int first = match;
            while (first > from
                    && words.get(match).start() - words.get(first - 1).start() <= MAX_BEFORE_MATCH) {
                first--;
            }
            int start = words.get(first).start();
            int last = match;
            while (last + 1 < marked.length && words.get(last + 1).end() - start <= MAX_FRAGMENT) {
                last++;
            }
            fragments.add(fragment(text, start, words.get(last).end(), words, marked, match));
            from = last + 1;
            next = nextMarked(marked, from);
        }
        return fragments;
    }

    private static int nextMarked(boolean[] marked, int from) {
        int next = from;
        while (next < marked.length && !marked[next]) {
            next++;
        }
        return next;
    }

    private static String fragment(
            String text, int start, int end, List<TextAnalysis.Word> words, boolean[] marked, int firstMatch) {
        StringBuilder html = new StringBuilder(end - start + 32);
        if (start > 0) {
            html.append('…');
        }
        int from = start;
        for (int i = firstMatch; i < marked.length && words.get(i).end() <= end; i++) {
            if (marked[i]) {
                escape(text, from, words.get(i).start(), html);
                html.append("<em>");
                escape(text, words.get(i).start(), words.get(i).end(), html);
                html.append("</em>");
                from = words.get(i).end();
            }
        }
        escape(text, from, end, html);
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
