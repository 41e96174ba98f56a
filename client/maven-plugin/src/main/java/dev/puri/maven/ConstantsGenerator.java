package dev.puri.maven;

import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Generates a Java class for each namespace that has collections, with a constant for each collection. The generated
 * text depends only on the declarations, the name of their file and the package, and not on the machine.
 */
final class ConstantsGenerator {
    /** The name is qualified, because the generated class of a namespace may have the same simple name. */
    private static final String TYPE = "dev.puri.client.PuriCollection";

    private static final String END_OF_COMMENT = "\n     */";

    private static final String RETIRED =
            "\n     *\n     * @deprecated Retired: the registry takes no new identities of it." + END_OF_COMMENT
                    + "\n    @java.lang.Deprecated";

    private ConstantsGenerator() {}

    /**
     * Generates the classes.
     *
     * @param packageName package of the classes
     * @param source name of the file of declarations, for a comment in the classes
     * @return the text of each class, by class name
     * @throws IllegalArgumentException if two namespaces, or two collections of a namespace, would have the same Java
     *     name
     */
    static Map<String, String> generate(String packageName, String source, List<Declaration> declarations) {
        Map<String, List<Collection>> byNamespace = new TreeMap<>();
        for (Declaration declaration : declarations) {
            if (declaration instanceof Collection collection) {
                byNamespace
                        .computeIfAbsent(collection.namespace(), namespace -> new ArrayList<>())
                        .add(collection);
            }
        }
        Map<String, String> classNames = JavaNames.ofClasses(byNamespace.keySet());
        Map<String, String> classes = new TreeMap<>();
        byNamespace.forEach((namespace, collections) -> {
            String className = classNames.getOrDefault(namespace, "");
            classes.put(className, classText(packageName, className, source, namespace, collections));
        });
        return classes;
    }

    private static String classText(
            String packageName, String className, String source, String namespace, List<Collection> collections) {
        Map<String, String> constants =
                JavaNames.ofConstants(collections.stream().map(Collection::name).toList());
        String members = collections.stream()
                .map(collection -> constant(constants.getOrDefault(collection.name(), ""), collection) + "\n")
                .collect(Collectors.joining());
        return """
                // Generated from %s; changes are overwritten.
                package %s;

                /** Collections of the namespace <code>%s</code>. */
                public final class %s {
                %s    private %s() {}
                }
                """.formatted(ascii(source), packageName, javadoc(namespace), className, members, className);
    }

    private static String constant(String name, Collection collection) {
        String prefix = collection.prefix() == null ? null : collection.prefix().text();
        String description = collection.description().strip().replaceAll("\\s+", " ");
        String qualified = "<code>" + javadoc(collection.qualifiedName()) + "</code>";
        return """
                    /**
                     * %s
                     *
                     * <p>%s%s
                    public static final %s %s =
                            %s.of("%s", "%s", %s);
                """.formatted(
                        description.isEmpty() ? qualified + "." : javadoc(description) + " (" + qualified + ")",
                        prefix == null ? "Without handles." : "Handles begin with <code>" + prefix + "_</code>.",
                        collection.retired() ? RETIRED : END_OF_COMMENT,
                        TYPE,
                        name,
                        TYPE,
                        collection.namespace(),
                        collection.name(),
                        prefix == null ? "null" : '"' + prefix + '"');
    }

    /** Escapes text for a Javadoc comment: characters that have a meaning in HTML, Javadoc or Java become entities. */
    private static String javadoc(String text) {
        StringBuilder safe = new StringBuilder();
        text.codePoints().forEach(c -> {
            if (c < ' ' || c > '~' || "<>&@{}*/\\".indexOf(c) >= 0) {
                safe.append("&#").append(c).append(';');
            } else {
                safe.appendCodePoint(c);
            }
        });
        return safe.toString();
    }

    /** Makes text safe for a line comment. Replaces backslashes too, because a backslash may begin a Unicode escape. */
    private static String ascii(String text) {
        return text.replaceAll("[^ -~]|\\\\", "?");
    }
}
