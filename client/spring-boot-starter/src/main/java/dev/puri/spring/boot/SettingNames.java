package dev.puri.spring.boot;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Returns the names of the settings in {@link PuriProperties}, for error messages. */
final class SettingNames {
    private SettingNames() {}

    /** Returns all names in the order of the record components. */
    static List<String> all() {
        List<String> names = new ArrayList<>();
        add("puri", PuriProperties.class, names);
        return names;
    }

    private static void add(String prefix, Class<?> type, List<String> names) {
        for (RecordComponent component : type.getRecordComponents()) {
            String name = prefix + "." + dashed(component.getName());
            if (component.getType().isRecord()) {
                add(name, component.getType(), names);
            } else {
                names.add(name);
            }
        }
    }

    /** Returns the name of a setting by the name of its record component. */
    static String dashed(String camelCase) {
        return camelCase.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    /** Returns the first setting in a group. */
    static String firstInGroup(String group) {
        return all().stream()
                .filter(name -> name.startsWith(group + "."))
                .findFirst()
                .orElseThrow();
    }

    /** Returns the setting whose name has the smallest edit distance to a name that is not known. */
    static String nearest(String unknownName) {
        return all().stream()
                .min(Comparator.comparingInt(known -> editDistance(known, unknownName)))
                .orElseThrow();
    }

    /** Returns the Levenshtein distance. */
    private static int editDistance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int withReplacement = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(withReplacement, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }
}
