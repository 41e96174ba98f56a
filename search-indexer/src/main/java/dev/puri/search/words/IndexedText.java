package dev.puri.search.words;

import dev.puri.schemas.collection.SearchedAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What an index keeps of a document's attributes so that it is found, the same in every engine.
 *
 * @param title the name of the attribute that is its title; null when it has none
 * @param attributes all of them, the title first, the others by name
 * @param wholes each searched attribute as one term
 * @param titleWhole the title as one term; null when it has none
 * @param signed words with the signs that belong to them
 * @param length characters of the title, or of the shortest attribute where there is none, at most {@value #MAX_LENGTH}
 */
public record IndexedText(
        @Nullable String title,
        List<Attribute> attributes,
        Set<String> wholes,
        @Nullable String titleWhole,
        Set<String> signed,
        int length) {
    /** What is longer than so many characters counts as so long. */
    public static final int MAX_LENGTH = 127;

    /**
     * One attribute.
     *
     * @param weight 0 when it is shown and not searched
     * @param words its words; none when it is not searched
     */
    public record Attribute(String name, String text, int weight, List<TextAnalysis.Word> words) {}

    /**
     * @param texts attributes by name
     * @param declared how their collection declares them to be searched
     */
    public static IndexedText of(Map<String, String> texts, SearchedAttributes declared) {
        SearchedAttributes.Weights weights = declared.of(texts.keySet());
        List<Attribute> attributes = new ArrayList<>();
        Set<String> wholes = new LinkedHashSet<>();
        SortedSet<String> signed = new TreeSet<>();
        String titleWhole = null;
        int length = MAX_LENGTH;
        for (String name : titleFirst(weights)) {
            String text = String.valueOf(texts.get(name));
            int weight = weights.byName().getOrDefault(name, 0);
            List<TextAnalysis.Word> words = weight == 0 ? List.of() : TextAnalysis.of(text);
            attributes.add(new Attribute(name, text, weight, words));
            if (words.isEmpty()) {
                continue;
            }
            List<TextAnalysis.Word> withSigns = TextAnalysis.signed(text, words);
            withSigns.forEach(word -> signed.add(word.text()));
            String whole = KeywordTerm.term(TextAnalysis.joined(words, withSigns));
            wholes.add(whole);
            boolean isTitle = name.equals(weights.title());
            if (isTitle) {
                titleWhole = whole;
            }
            if (isTitle || weights.title() == null) {
                length = Math.min(length, text.codePointCount(0, text.length()));
            }
        }
        return new IndexedText(weights.title(), attributes, wholes, titleWhole, signed, length);
    }

    private static List<String> titleFirst(SearchedAttributes.Weights weights) {
        List<String> names = new ArrayList<>(weights.byName().keySet());
        String title = weights.title();
        if (title != null) {
            names.remove(title);
            names.addFirst(title);
        }
        return names;
    }

    /** The order in which a result shows its attributes. */
    public static Map<String, String> shown(@Nullable String title, Map<String, String> attributes) {
        Map<String, String> shown = new LinkedHashMap<>();
        String first = title == null ? null : attributes.get(title);
        if (title != null && first != null) {
            shown.put(title, first);
        }
        shown.putAll(new TreeMap<>(attributes));
        return shown;
    }
}
