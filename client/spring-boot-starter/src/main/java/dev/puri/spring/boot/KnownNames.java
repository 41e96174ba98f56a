package dev.puri.spring.boot;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** The names of all settings, read from {@link PuriProperties}. */
final class KnownNames {
    private KnownNames() {}

    /** All names, in the order of the record's components. */
    static List<String> all() {
        List<String> names = new ArrayList<>();
        add("puri", PuriProperties.class, names);
        return names;
    }

    private static void add(String prefix, Class<?> type, List<String> names) {
        for (RecordComponent each : type.getRecordComponents()) {
            String name = prefix + "." + dashed(each.getName());
            if (each.getType().isRecord()) {
                add(name, each.getType(), names);
            } else {
                names.add(name);
            }
        }
    }

    private static String dashed(String camelCase) {
        return camelCase.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    /** The first setting in a group. */
    static String firstBelow(String group) {
        return all().stream()
                .filter(each -> each.startsWith(group + "."))
                .findFirst()
                .orElseThrow();
    }

    /** The setting whose name has the smallest edit distance to another name. */
    static String nearest(String name) {
        return all().stream()
                .min(Comparator.comparingInt(each -> edits(each, name)))
                .orElseThrow();
    }

    /** The Levenshtein distance. */
    private static int edits(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }
}
