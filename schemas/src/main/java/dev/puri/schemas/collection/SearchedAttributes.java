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
 * How the attributes of a collection are searched. What is not named here weighs {@value #MIN_BOOST}, but the first
 * of {@code title}, {@code name} and {@code label} that an object has, which weighs {@value #TITLE_BOOST}.
 *
 * @param boost what attributes weigh, {@value #MIN_BOOST} to {@value #MAX_BOOST}, by name
 * @param shown names of attributes that are shown with a result and not searched
 */
public record SearchedAttributes(SortedMap<String, Integer> boost, SortedSet<String> shown) {
    /** The least that a searched attribute weighs. */
    public static final int MIN_BOOST = 1;

    /** The most. */
    public static final int MAX_BOOST = 5;

    /** What an attribute weighs that is taken for the title. */
    public static final int TITLE_BOOST = 3;

    /** Bounds the record, so that it always fits into the topic. */
    public static final int MAX_NAMES = 100;

    /** Characters of an attribute's name. */
    public static final int MAX_NAME_LENGTH = 255;

    /** Nothing declared. */
    public static final SearchedAttributes DEFAULT =
            new SearchedAttributes(Collections.emptySortedMap(), Collections.emptySortedSet());

    private static final List<String> TITLES = List.of("title", "name", "label");

    /**
     * @throws IllegalArgumentException when a boost is out of its range, a name is empty or too long, the names are too
     *     many, or one is both boosted and only shown
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

    /** Of maps and sets in any order. */
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

    /** The weights of one object's attributes, 0 for those that are only shown, and which of them is its title. */
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
     * What the attributes of one object weigh.
     *
     * @param title the attribute that weighs most; null when none weighs more than {@value #MIN_BOOST}
     * @param byName of every attribute, by name
     */
    public record Weights(@Nullable String title, SortedMap<String, Integer> byName) {}
}
