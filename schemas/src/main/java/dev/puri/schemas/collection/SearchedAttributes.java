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
 * The weights of a collection's attributes in search. An attribute that is not named here has the weight {@value
 * #MIN_BOOST}, except for the first of {@code title}, {@code name} and {@code label} that an object has: its weight is
 * {@value #TITLE_BOOST}.
 *
 * @param boost weights by attribute name, {@value #MIN_BOOST} to {@value #MAX_BOOST}
 * @param shown names of attributes that are returned with results but not searched
 */
public record SearchedAttributes(SortedMap<String, Integer> boost, SortedSet<String> shown) {
    /** The minimum weight of a searched attribute. */
    public static final int MIN_BOOST = 1;

    /** The maximum weight. */
    public static final int MAX_BOOST = 5;

    /** The default weight of the title attribute. */
    public static final int TITLE_BOOST = 3;

    /** Ensures that the record does not exceed the topic's maximum size. */
    public static final int MAX_NAMES = 100;

    /** The maximum length of an attribute's name, in characters. */
    public static final int MAX_NAME_LENGTH = 255;

    /** The default weights. */
    public static final SearchedAttributes DEFAULT =
            new SearchedAttributes(Collections.emptySortedMap(), Collections.emptySortedSet());

    private static final List<String> TITLES = List.of("title", "name", "label");

    /**
     * @throws IllegalArgumentException if a boost is out of range, a name is empty or too long, there are too many
     *     names, or one is in both {@code boost} and {@code shown}
     */
    public SearchedAttributes {
        boost = Collections.unmodifiableSortedMap(new TreeMap<>(boost));
        shown = Collections.unmodifiableSortedSet(new TreeSet<>(shown));
        if (boost.size() + shown.size() > MAX_NAMES) {
            throw new IllegalArgumentException("search names " + (boost.size() + shown.size()) + " attributes, at most "
                    + MAX_NAMES + " are allowed");
        }
        boost.forEach((name, weight) -> {
            requireName(name);
            if (weight < MIN_BOOST || weight > MAX_BOOST) {
                throw new IllegalArgumentException("the boost of " + name + " is a whole number from " + MIN_BOOST
                        + " to " + MAX_BOOST + ", not " + weight);
            }
        });
        for (String name : shown) {
            requireName(name);
            if (boost.containsKey(name)) {
                throw new IllegalArgumentException(
                        name + " is boosted and only shown; what is only shown is not searched");
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

    /** Returns the weights of an object's attributes, 0 for those that are only shown, and its title attribute. */
    public Weights of(Set<String> names) {
        String usual = null;
        for (String title : TITLES) {
            if (usual == null && names.contains(title) && !shown.contains(title)) {
                usual = title;
            }
        }
        SortedMap<String, Integer> weights = new TreeMap<>();
        String best = null;
        int most = MIN_BOOST;
        for (String name : new TreeSet<>(names)) {
            int weight =
                    shown.contains(name) ? 0 : boost.getOrDefault(name, name.equals(usual) ? TITLE_BOOST : MIN_BOOST);
            weights.put(name, weight);
            if (weight > most || weight == most && weight > MIN_BOOST && name.equals(usual)) {
                best = name;
                most = weight;
            }
        }
        return new Weights(best, weights);
    }

    /**
     * The weights of an object's attributes.
     *
     * @param title the attribute with the highest weight; null if none is above {@value #MIN_BOOST}
     * @param byName the weight of each attribute by name
     */
    public record Weights(@Nullable String title, SortedMap<String, Integer> byName) {}
}
