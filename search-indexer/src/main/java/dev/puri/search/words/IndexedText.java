package dev.puri.search.words;

import dev.puri.schemas.collection.SearchedAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The analyzed attributes of a document, the same for every engine. The title attribute is the attribute with the
 * highest weight; see {@link SearchedAttributes}.
 *
 * @param titleName the name of the title attribute; null if the document has none
 * @param attributes all attributes; the title is first, the others are in the order of their names
 * @param keywords the {@link KeywordTerm} of each searched attribute
 * @param titleKeyword the {@link KeywordTerm} of the title; null if the document has no title with a word
 * @param symbolWords words with the symbols that belong to them, such as {@code c++} and {@code .net}; see {@link
 *     TextAnalysis#symbolWords}
 * @param length number of characters of the title, or of the shortest searched attribute if there is no title; at most
 *     {@value #MAX_LENGTH}. Attributes without words do not count; if none counts, {@value #MAX_LENGTH}. Among hits
 *     with equal scores, the shortest is first.
 */
public record IndexedText(
        @Nullable String titleName,
        List<Attribute> attributes,
        Set<String> keywords,
        @Nullable String titleKeyword,
        Set<String> symbolWords,
        int length) {
    /**
     * The field of {@link #keywords()}. It is named {@code whole}, because each term is the text of a whole attribute.
     */
    public static final String KEYWORDS_FIELD = "whole";

    /** The field of {@link #titleKeyword()}. */
    public static final String TITLE_KEYWORD_FIELD = "title";

    /** The field of {@link #symbolWords()}. It is named {@code signed}, because symbols are also called signs. */
    public static final String SYMBOL_WORDS_FIELD = "signed";

    /** Maximum of {@link #length()}. Longer texts have this value too. */
    public static final int MAX_LENGTH = 127;

    /**
     * One attribute.
     *
     * @param weight 1 to {@value SearchedAttributes#MAX_WEIGHT}; 0 if the attribute is shown but not searched
     * @param words empty if the attribute is not searched
     */
    public record Attribute(String name, String text, int weight, List<TextAnalysis.Word> words) {}

    /**
     * Analyzes the attributes of a document.
     *
     * @param texts attribute texts by name
     * @param searchedAttributes the attribute weights that the document's collection declares
     */
    public static IndexedText of(Map<String, String> texts, SearchedAttributes searchedAttributes) {
        SearchedAttributes.Weights weights = searchedAttributes.of(texts.keySet());
        List<Attribute> attributes = new ArrayList<>();
        Set<String> keywords = new LinkedHashSet<>();
        SortedSet<String> allSymbolWords = new TreeSet<>();
        String titleKeyword = null;
        int length = MAX_LENGTH;
        for (String name : titleFirst(weights)) {
            String text = String.valueOf(texts.get(name));
            int weight = Objects.requireNonNull(weights.byName().get(name));
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

    /** Returns the names of all attributes, also of attributes that are not searched. */
    private static List<String> titleFirst(SearchedAttributes.Weights weights) {
        List<String> names = new ArrayList<>(weights.byName().keySet());
        String titleName = weights.title();
        if (titleName != null) {
            names.remove(titleName);
            names.addFirst(titleName);
        }
        return names;
    }

    /**
     * Returns attributes in the order in which a result shows them: the title first, the others by name.
     *
     * @param titleName the name of the title attribute; null if there is none
     */
    public static Map<String, String> inDisplayOrder(@Nullable String titleName, Map<String, String> attributes) {
        Map<String, String> ordered = new LinkedHashMap<>();
        String titleText = titleName == null ? null : attributes.get(titleName);
        if (titleName != null && titleText != null) {
            ordered.put(titleName, titleText);
        }
        ordered.putAll(new TreeMap<>(attributes));
        return ordered;
    }
}
