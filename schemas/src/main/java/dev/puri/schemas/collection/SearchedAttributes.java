package dev.puri.schemas.collection;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * How a collection's attributes are searched. An attribute that is not listed here has the weight {@value #MIN_WEIGHT}.
 * The usual title of an object is an exception: the first of the attributes {@code title}, {@code name} and {@code
 * label} that the object has and that is searched gets the weight {@value #TITLE_WEIGHT}, unless {@code boost} lists
 * it.
 *
 * @param boost weights by attribute name, {@value #MIN_WEIGHT} to {@value #MAX_WEIGHT}
 * @param shown names of attributes that are returned with search results but not searched
 */
public record SearchedAttributes(SortedMap<String, Integer> boost, SortedSet<String> shown) {
    /** Minimum weight of a searched attribute. */
    public static final int MIN_WEIGHT = 1;

    /** Maximum weight of an attribute. */
    public static final int MAX_WEIGHT = 5;

    /** Default weight of the usual title. */
    public static final int TITLE_WEIGHT = 3;

    /** Maximum number of listed attributes. It keeps the declaration smaller than the topic's maximum record size. */
    public static final int MAX_NAMES = 100;

    /** Maximum length of the name of an attribute, in characters. */
    public static final int MAX_NAME_LENGTH = 255;

    /** The default weights. */
    public static final SearchedAttributes DEFAULT =
            new SearchedAttributes(Collections.emptySortedMap(), Collections.emptySortedSet());

    private static final List<String> USUAL_TITLES = List.of("title", "name", "label");

    /**
     * @throws IllegalArgumentException if a weight is out of range, a name is empty or too long, there are too many
     *     names, or a name is in both {@code boost} and {@code shown}
     */
    public SearchedAttributes {
        boost = Collections.unmodifiableSortedMap(new TreeMap<>(boost));
        shown = Collections.unmodifiableSortedSet(new TreeSet<>(shown));
        if (boost.size() + shown.size() > MAX_NAMES) {
            throw new IllegalArgumentException("search lists " + (boost.size() + shown.size()) + " attributes; at most "
                    + MAX_NAMES + " are allowed");
        }
        boost.forEach((name, weight) -> {
            requireName(name);
            if (weight < MIN_WEIGHT || weight > MAX_WEIGHT) {
                throw new IllegalArgumentException("the boost of " + name + " is a whole number from " + MIN_WEIGHT
                        + " to " + MAX_WEIGHT + ", not " + weight);
            }
        });
        for (String name : shown) {
            requireName(name);
            if (boost.containsKey(name)) {
                throw new IllegalArgumentException(
                        name + " is in both boost and shown; attributes in shown are not searched");
            }
        }
    }

    /** Creates an instance from unsorted collections. */
    public static SearchedAttributes of(Map<String, Integer> boost, Set<String> shown) {
        return boost.isEmpty() && shown.isEmpty()
                ? DEFAULT
                : new SearchedAttributes(new TreeMap<>(boost), new TreeSet<>(shown));
    }

    private static void requireName(String name) {
        if (name.isEmpty() || name.length() > MAX_NAME_LENGTH) {
            throw new IllegalArgumentException(
                    "an attribute's name has 1 to " + MAX_NAME_LENGTH + " characters, not " + name.length());
        }
    }

    /**
     * Returns the weights of an object's attributes. An attribute that is shown but not searched has the weight 0.
     *
     * @param names names of the object's attributes
     */
    public Weights of(Set<String> names) {
        String usualTitle = null;
        for (String title : USUAL_TITLES) {
            if (usualTitle == null && names.contains(title) && !shown.contains(title)) {
                usualTitle = title;
            }
        }
        SortedMap<String, Integer> weights = new TreeMap<>();
        String heaviest = null;
        int maxWeight = MIN_WEIGHT;
        for (String name : new TreeSet<>(names)) {
            int weight = shown.contains(name)
                    ? 0
                    : boost.getOrDefault(name, name.equals(usualTitle) ? TITLE_WEIGHT : MIN_WEIGHT);
            weights.put(name, weight);
            if (weight > maxWeight || weight == maxWeight && weight > MIN_WEIGHT && name.equals(usualTitle)) {
                heaviest = name;
                maxWeight = weight;
            }
        }
        return new Weights(heaviest, weights);
    }

    /**
     * The weights of an object's attributes.
     *
     * @param title the attribute with the highest weight, which readers see as the title; null if no weight is above
     *     {@value #MIN_WEIGHT}
     * @param byName weights by attribute name
     */
    public record Weights(@Nullable String title, SortedMap<String, Integer> byName) {}
}
