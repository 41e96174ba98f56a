package dev.puri.search.index;

import dev.puri.search.index.PackageList.Package;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Queries that people would type for packages. Fixed rules make them from a list of packages. */
final class PackageQueries {
    /** Number of names with the most dependents, of all packages. */
    private static final int NAMES_OF_ALL = 60;

    /** Number of names with the most dependents, of each section. */
    private static final int NAMES_OF_SECTION = 3;

    private static final int MAINTAINERS = 60;
    private static final int MIN_LETTERS = 5;

    private final Random random = new Random(20261122);
    private final Map<String, Package> byName;
    private final Map<QueryClass, List<Query>> queries = new EnumMap<>(QueryClass.class);

    /** Classes of queries. */
    enum QueryClass {
        NAME("exact names"),
        TYPO("one-letter typos"),
        PREFIX("prefixes of names"),
        TWO_WORDS("name and a word of the summary"),
        MAINTAINER("maintainers with accents");

        private final String text;

        QueryClass(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /** A typed text and a test for the packages that it means. */
    record Query(String typed, Predicate<Package> isMeant) {}

    private PackageQueries(List<Package> packages) {
        byName = packages.stream().collect(Collectors.toMap(Package::name, each -> each, (a, b) -> a));
        for (QueryClass kind : QueryClass.values()) {
            queries.put(kind, new ArrayList<>());
        }
        for (Package famous : famous(packages)) {
            add(QueryClass.NAME, famous.name(), famous);
            typos(famous);
            prefix(famous);
            twoWords(famous);
        }
        maintainers(packages);
    }

    static Map<QueryClass, List<Query>> of(List<Package> packages) {
        return new PackageQueries(packages).queries;
    }

    private static Collection<Package> famous(List<Package> packages) {
        Comparator<Package> famous =
                Comparator.comparing(Package::dependents).reversed().thenComparing(Package::name);
        Set<Package> chosen = new LinkedHashSet<>(
                packages.stream().sorted(famous).limit(NAMES_OF_ALL).toList());
        packages.stream()
                .collect(Collectors.groupingBy(Package::section, LinkedHashMap::new, Collectors.toList()))
                .values()
                .forEach(section ->
                        section.stream().sorted(famous).limit(NAMES_OF_SECTION).forEach(chosen::add));
        return chosen;
    }

    private void add(QueryClass kind, String typed, Package meant) {
        queries.get(kind).add(new Query(typed, each -> each.name().equals(meant.name())));
    }

    /** Adds one typo of each kind: a letter deleted, inserted, replaced, and two letters swapped. */
    private void typos(Package famous) {
        String name = famous.name();
        List<Integer> letters = new ArrayList<>();
        for (int i = 0; i < name.length(); i++) {
            if (Character.isLetter(name.charAt(i))) {
                letters.add(i);
            }
        }
        if (letters.size() < MIN_LETTERS) {
            return;
        }
        for (int kind = 0; kind < 4; kind++) {
            int at = letters.get(random.nextInt(letters.size()));
            char other = (char) ('a' + random.nextInt(26));
            String before = name.substring(0, at);
            String after = name.substring(at + 1);
            String typo = switch (kind) {
                case 0 -> before + after;
                case 1 -> before + other + name.substring(at);
                case 2 -> before + other + after;
                default ->
                    after.isEmpty() || !Character.isLetter(after.charAt(0))
                            ? name
                            : before + after.charAt(0) + name.charAt(at) + after.substring(1);
            };
            if (!byName.containsKey(typo)) {
                add(QueryClass.TYPO, typo, famous);
            }
        }
    }

    private void prefix(Package famous) {
        String name = famous.name();
        String prefix = name.substring(0, (2 * name.length() + 2) / 3);
        if (name.length() >= MIN_LETTERS && !byName.containsKey(prefix)) {
            add(QueryClass.PREFIX, prefix, famous);
        }
    }

    private void twoWords(Package famous) {
        List<String> words = List.of(famous.summary().split("[^\\p{L}]+")).stream()
                .filter(word -> word.length() >= 4 && !famous.name().contains(word.toLowerCase(Locale.ROOT)))
                .toList();
        if (!words.isEmpty()) {
            add(QueryClass.TWO_WORDS, famous.name() + ' ' + words.get(random.nextInt(words.size())), famous);
        }
    }

    /** Adds names of maintainers, every second one without accents. */
    private void maintainers(List<Package> packages) {
        Set<String> accented = packages.stream()
                .map(each -> each.maintainer().replaceAll(" *<.*", ""))
                .filter(name -> name.chars().anyMatch(c -> c > 0x7f))
                .collect(Collectors.toCollection(TreeSet::new));
        List<String> names = new ArrayList<>(accented);
        Collections.shuffle(names, random);
        for (String name : names.subList(0, Math.min(MAINTAINERS, names.size()))) {
            List<Query> maintainers = queries.get(QueryClass.MAINTAINER);
            String folded = Normalizer.normalize(name, Normalizer.Form.NFD).replaceAll("\\p{M}", "");
            maintainers.add(new Query(
                    maintainers.size() % 2 == 0 ? name : folded,
                    each -> each.maintainer().startsWith(name)));
        }
    }
}
