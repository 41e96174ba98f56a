package dev.puri.maven;

import dev.puri.schemas.identity.Puri;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Makes Java names of segments. A plain name keeps letters and digits, and any other character ends a word: {@code revenue-bills} becomes
 * the constant {@code REVENUE_BILLS} or the class {@code RevenueBills}. All segments whose plain names are equal or empty get
 * exact names instead, so that the order of the file does not matter. In an exact name, each character that is no letter or digit
 * becomes {@code _} and its bytes in hexadecimal: {@code a-b} becomes {@code A_2DB}.
 */
final class JavaNames {
    private JavaNames() {}

    static Map<String, String> ofConstants(Collection<String> segments) {
        return names(segments, JavaNames::constant);
    }

    /** Names that differ in more than case, because some file systems ignore case. */
    static Map<String, String> ofClasses(Collection<String> segments) {
        return names(segments, JavaNames::className);
    }

    /**
     * @return the name of each segment
     * @throws IllegalArgumentException if two segments have the same exact name
     */
    private static Map<String, String> names(Collection<String> segments, Function<String, String> plain) {
        Map<String, List<String>> byName = new TreeMap<>();
        for (String segment : segments) {
            byName.computeIfAbsent(plain.apply(segment).toLowerCase(Locale.ROOT), name -> new ArrayList<>())
                    .add(segment);
        }
        Map<String, String> names = new TreeMap<>();
        byName.forEach((name, alike) -> {
            for (String segment : alike) {
                boolean isExact = name.isEmpty() || alike.size() > 1;
                names.put(segment, valid(isExact ? exact(segment) : plain.apply(segment)));
            }
        });
        Map<String, String> segmentOf = new HashMap<>();
        names.forEach((segment, name) -> {
            String other = segmentOf.putIfAbsent(name.toLowerCase(Locale.ROOT), segment);
            if (other != null) {
                throw new IllegalArgumentException(
                        other + " and " + segment + " would both be " + name + " in Java; rename one");
            }
        });
        return names;
    }

    private static String constant(String segment) {
        return words(segment).replace(' ', '_').toUpperCase(Locale.ROOT);
    }

    private static String className(String segment) {
        StringBuilder name = new StringBuilder();
        for (String word : words(segment).split(" ")) {
            if (!word.isEmpty()) {
                name.append(Character.toUpperCase(word.charAt(0))).append(word, 1, word.length());
            }
        }
        return name.toString();
    }

    /** Words of a-z and 0-9, with single spaces between. */
    private static String words(String segment) {
        return plain(segment).replaceAll("[^a-z0-9]+", " ").strip();
    }

    private static String exact(String segment) {
        StringBuilder name = new StringBuilder();
        for (byte each : plain(segment).getBytes(StandardCharsets.UTF_8)) {
            if (each >= 'a' && each <= 'z' || each >= '0' && each <= '9') {
                name.append(Character.toUpperCase((char) each));
            } else {
                name.append(String.format("_%02X", each & 0xFF));
            }
        }
        return name.toString();
    }

    private static String plain(String segment) {
        return Puri.parse("x:x:" + segment).plainIdentifier();
    }

    private static String valid(String name) {
        return Character.isDigit(name.charAt(0)) ? '_' + name : name;
    }
}
