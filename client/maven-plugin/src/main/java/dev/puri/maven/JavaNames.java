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
 * Converts segments of pURIs to Java names. A segment usually gets a plain name: letters and digits are kept, and any
 * other character separates words, so {@code revenue-bills} becomes the constant {@code REVENUE_BILLS} or the class
 * {@code RevenueBills}. Segments whose plain names are equal or empty all get exact names instead, so the names do not
 * depend on the order of the file. In an exact name, each character that is not a letter or digit becomes {@code _} and
 * its bytes in hexadecimal: {@code a-b} becomes {@code A_2DB}.
 */
final class JavaNames {
    private JavaNames() {}

    /** Returns the names of constants. No two are equal if case is ignored. */
    static Map<String, String> ofConstants(Collection<String> segments) {
        return names(segments, JavaNames::constant);
    }

    /** Returns the names of classes. No two are equal if case is ignored, as some file systems do. */
    static Map<String, String> ofClasses(Collection<String> segments) {
        return names(segments, JavaNames::className);
    }

    /**
     * @return the name of each segment
     * @throws IllegalArgumentException if two segments would have the same name, such as an exact and a plain one
     */
    private static Map<String, String> names(Collection<String> segments, Function<String, String> toPlainName) {
        Map<String, List<String>> segmentsByPlainName = new TreeMap<>();
        for (String segment : segments) {
            segmentsByPlainName
                    .computeIfAbsent(toPlainName.apply(segment).toLowerCase(Locale.ROOT), name -> new ArrayList<>())
                    .add(segment);
        }
        Map<String, String> names = new TreeMap<>();
        segmentsByPlainName.forEach((name, segmentsOfName) -> {
            for (String segment : segmentsOfName) {
                boolean isExact = name.isEmpty() || segmentsOfName.size() > 1;
                String javaName = isExact ? exactName(segment) : toPlainName.apply(segment);
                names.put(segment, withUnderscoreBeforeDigit(javaName));
            }
        });
        Map<String, String> segmentsByLowerCaseName = new HashMap<>();
        names.forEach((segment, name) -> {
            String other = segmentsByLowerCaseName.putIfAbsent(name.toLowerCase(Locale.ROOT), segment);
            if (other != null) {
                throw new IllegalArgumentException(other + " and " + segment + " would both have the name " + name
                        + " in Java; rename one of them");
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

    /** Returns the words of a segment, which consist of a-z and 0-9, separated by single spaces. */
    private static String words(String segment) {
        return unescaped(segment).replaceAll("[^a-z0-9]+", " ").strip();
    }

    private static String exactName(String segment) {
        StringBuilder name = new StringBuilder();
        for (byte b : unescaped(segment).getBytes(StandardCharsets.UTF_8)) {
            if (b >= 'a' && b <= 'z' || b >= '0' && b <= '9') {
                name.append(Character.toUpperCase((char) b));
            } else {
                name.append(String.format("_%02X", b & 0xFF));
            }
        }
        return name.toString();
    }

    private static String unescaped(String segment) {
        return Puri.parse("x:x:" + segment).plainIdentifier();
    }

    /** Adds {@code _} in front of a digit, because a Java name must not begin with a digit. */
    private static String withUnderscoreBeforeDigit(String name) {
        return Character.isDigit(name.charAt(0)) ? '_' + name : name;
    }
}
