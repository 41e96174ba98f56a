package dev.puri.search.words;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Shows where a hit meets what is wanted: pieces of its attributes, with matches between {@code <em>} and
 * {@code </em>} and all else escaped for HTML. Of the text itself, so that it needs nothing of an engine.
 */
public final class Highlighter {
    /** A text that is no longer than so many characters is shown as a whole. */
    private static final int WHOLE = 160;

    /** Characters that a piece shows before its first match. */
    private static final int BEFORE = 60;

    /** Pieces of one attribute at most. */
    private static final int PIECES = 3;

    private final List<ParsedQuery.Clause> clauses;

    public Highlighter(ParsedQuery wanted) {
        clauses = wanted.clauses();
    }

    /** Pieces by the names of those attributes that have a match. */
    public Map<String, List<String>> of(Map<String, String> attributes) {
        Map<String, List<String>> pieces = new LinkedHashMap<>();
        attributes.forEach((name, text) -> {
            List<TextAnalysis.Word> words = TextAnalysis.of(text);
            boolean[] marked = marked(words);
            List<String> ofText = text.length() <= WHOLE ? whole(text, words, marked) : pieces(text, words, marked);
            if (!ofText.isEmpty()) {
                pieces.put(name, ofText);
            }
        });
        return pieces;
    }

    private boolean[] marked(List<TextAnalysis.Word> words) {
        boolean[] marked = new boolean[words.size()];
        for (ParsedQuery.Clause clause : clauses) {
            switch (clause) {
                case ParsedQuery.WordClause word -> mark(word, words, marked);
                case ParsedQuery.PhraseClause phrase -> mark(phrase, words, marked);
                case ParsedQuery.SymbolClause signed -> {
                    // Its word is a clause of its own.
                }
            }
        }
        return marked;
    }

    private static void mark(ParsedQuery.WordClause wanted, List<TextAnalysis.Word> words, boolean[] marked) {
        for (int i = 0; i < marked.length; i++) {
            marked[i] |= wanted.isMetBy(words.get(i).text());
        }
    }

    private static void mark(ParsedQuery.PhraseClause wanted, List<TextAnalysis.Word> words, boolean[] marked) {
        int length = wanted.words().size();
        for (int i = 0; i + length <= marked.length; i++) {
            boolean met = true;
            for (int j = 0; met && j < length; j++) {
                met = wanted.words().get(j).equals(words.get(i + j).text());
            }
            for (int j = 0; met && j < length; j++) {
                marked[i + j] = true;
            }
        }
    }

    private static List<String> whole(String text, List<TextAnalysis.Word> words, boolean[] marked) {
        int first = nextMarked(marked, 0);
        return first == marked.length ? List.of() : List.of(piece(text, 0, text.length(), words, marked, first));
    }

    private static List<String> pieces(String text, List<TextAnalysis.Word> words, boolean[] marked) {
        List<String> pieces = new ArrayList<>();
        int from = 0;
        for (int next = nextMarked(marked, 0); next < marked.length && pieces.size() < PIECES; ) {
            int match = next;
            int first = match;
            while (first > from
                    && words.get(match).start() - words.get(first - 1).start() <= BEFORE) {
                first--;
            }
            int start = words.get(first).start();
            int last = match;
            while (last + 1 < marked.length && words.get(last + 1).end() - start <= WHOLE) {
                last++;
            }
            pieces.add(piece(text, start, words.get(last).end(), words, marked, match));
            from = last + 1;
            next = nextMarked(marked, from);
        }
        return pieces;
    }

    private static int nextMarked(boolean[] marked, int from) {
        int next = from;
        while (next < marked.length && !marked[next]) {
            next++;
        }
        return next;
    }

    private static String piece(
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
