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
 * The analyzed text of a document, the same for every engine.
 *
 * @param title the name of the title attribute; null if the document has none
 * @param attributes all attributes, the title first, the others by name
 * @param keywords each searched attribute as one term
 * @param titleKeyword the title as one term; null if the document has none
 * @param symbolWords words together with the symbols that belong to them
 * @param length characters of the title, or of the shortest attribute if there is no title; at most
 *     {@value #MAX_LENGTH}
 */
public record IndexedText(
        @Nullable String title,
        List<Attribute> attributes,
        Set<String> keywords,
        @Nullable String titleKeyword,
        Set<String> symbolWords,
        int length) {
    /** The name of the field with {@link #keywords()}. */
    public static final String KEYWORDS_FIELD = "whole";

    /** The name of the field with {@link #titleKeyword()}. */
    public static final String TITLE_FIELD = "title";

    /** The name of the field with {@link #symbolWords()}. */
    public static final String SYMBOL_WORDS_FIELD = "signed";

    /** The largest value of {@link #length()}; longer texts have this value too. */
    public static final int MAX_LENGTH = 127;

    /**
     * One attribute.
     *
     * @param weight 0 if the attribute is shown but not searched
     * @param words empty if the attribute is not searched
     */
    public record Attribute(String name, String text, int weight, List<TextAnalysis.Word> words) {}

    /**
     * Analyzes the attributes of a document.
     *
     * @param texts attribute texts by name
     * @param declared the search declaration of the document's collection
     */
    public static IndexedText of(Map<String, String> texts, SearchedAttributes declared) {
        SearchedAttributes.Weights weights = declared.of(texts.keySet());
        List<Attribute> attributes = new ArrayList<>();
        Set<String> keywords = new LinkedHashSet<>();
        SortedSet<String> allSymbolWords = new TreeSet<>();
        String titleKeyword = null;
        int length = MAX_LENGTH;
        for (String name : titleFirst(weights)) {
            String text = String.valueOf(texts.get(name));
            int weight = weights.byName().getOrDefault(name, 0);
            List<TextAnalysis.Word> words = weight == 0 ? List.of() : TextAnalysis.words(text);
            attributes.add(new Attribute(name, text, weight, words));
            if (words.isEmpty()) {
                continue;
            }
            List<TextAnalysis.Word> symbolWords = TextAnalysis.symbolWords(text, words);
            symbolWords.forEach(word -> allSymbolWords.add(word.text()));
            String keyword = KeywordTerm.of(TextAnalysis.join(words, symbolWords));
            keywords.add(keyword);
            boolean isTitle = name.equals(weights.title());
            if (isTitle) {
                titleKeyword = keyword;
            }
            if (isTitle || weights.title() == null) {
                length = Math.min(length, text.codePointCount(0, text.length()));
            }
        }
        return new IndexedText(weights.title(), attributes, keywords, titleKeyword, allSymbolWords, length);
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

    /** Returns attributes in the order in which a result shows them: the title first, the others by name. */
    public static Map<String, String> inDisplayOrder(@Nullable String title, Map<String, String> attributes) {
        Map<String, String> ordered = new LinkedHashMap<>();
        String titleText = title == null ? null : attributes.get(title);
        if (title != null && titleText != null) {
            ordered.put(title, titleText);
        }
        ordered.putAll(new TreeMap<>(attributes));
        return ordered;
    }
}
