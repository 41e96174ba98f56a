package dev.puri.maven;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.client.PuriCollection;
import dev.puri.client.declarations.CollectionsFile;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConstantsGeneratorTest {
    private static final String ODD = """
            collections:
              - name: odd:plain
                description: "Ends it */ and \\\\u002a/ and {@code x} <b>&amp; @see é 😀"
              - {name: "odd:class", prefix: cls}
              - {name: "odd:a'b$c", retired: true}
              - {name: "odd:caf%C3%A9"}
              - {name: "string:x"}
              - {name: "puri-collection:x"}
              - {name: "deprecated:x", retired: true}
            """;

    @TempDir
    private Path folder;

    private static List<Declaration> read(String yaml) throws IOException {
        return CollectionsFile.read("c.yaml", new StringReader(yaml));
    }

    @Test
    void eachNamespaceIsAClassAndEachCollectionAConstant() throws IOException {
        assertThat(ConstantsGenerator.generate("com.example", "collections.yaml", read("""
                namespaces: {empty: {}}
                collections:
                  - name: music:tracks
                    prefix: trk
                    description: |
                      Songs,
                      as uploaded
                  - {name: music:bills, retired: true}
                """)))
                .isEqualTo(Map.of("Music", """
                        // Generated from collections.yaml; changes are overwritten.
                        package com.example;

                        /** Collections of the namespace <code>music</code>. */
                        public final class Music {
                            /**
                             * Songs, as uploaded (<code>music:tracks</code>)
                             *
                             * <p>Handles begin with <code>trk_</code>.
                             */
                            public static final dev.puri.client.PuriCollection TRACKS =
                                    dev.puri.client.PuriCollection.of("music", "tracks", "trk");

                            /**
                             * <code>music:bills</code>.
                             *
                             * <p>Without handles.
                             *
                             * @deprecated Retired: the registry takes no new identities of it.
                             */
                            @java.lang.Deprecated
                            public static final dev.puri.client.PuriCollection BILLS =
                                    dev.puri.client.PuriCollection.of("music", "bills", null);

                            private Music() {}
                        }
                        """));
    }

    /** Files of the examples, and a file with every name that is problematic in Java. */
    @Test
    void theClassesCompileAndTheConstantsAreTheCollections() throws Exception {
        Path examples = Path.of("../../examples");
        List<Declaration> declarations = new ArrayList<>(read(ODD));
        for (String example : List.of("music", "debian-packages")) {
            Path file = examples.resolve(example).resolve("collections.yaml");
            try (Reader text = Files.newBufferedReader(file)) {
                declarations.addAll(CollectionsFile.read(file.toString(), text));
            }
        }
        Map<String, String> classes = ConstantsGenerator.generate("com.example", "c.yaml", declarations);
        assertThat(classes)
                .containsOnlyKeys("Odd", "String", "PuriCollection", "Deprecated", "Soundcloud", "Debian")
                .allSatisfy((name, text) -> assertThat(text).matches("[ -~\n]*"));
        compile(classes);

        Set<PuriCollection> constants = constants(classes.keySet());
        assertThat(constants)
                .containsExactlyInAnyOrderElementsOf(declarations.stream()
                        .filter(Collection.class::isInstance)
                        .map(Collection.class::cast)
                        .map(each -> new PuriCollection(each.namespace(), each.name(), each.prefix()))
                        .toList());
    }

    private void compile(Map<String, String> classes) throws IOException {
        GenerateMojo.write(folder.resolve("com/example"), classes);
        List<String> arguments = new ArrayList<>(List.of(
                "-Xlint:all", "-Werror", "-proc:none", "-d", folder.toString(), "-cp", TestClassPath.of(getClass())));
        classes.keySet()
                .forEach(name -> arguments.add(
                        folder.resolve("com/example/" + name + ".java").toString()));
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)))
                .isZero();
    }

    private Set<PuriCollection> constants(Set<String> classes) throws Exception {
        Set<PuriCollection> constants = new HashSet<>();
        try (URLClassLoader loader = new URLClassLoader(
                new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
            for (String name : classes) {
                for (var field : loader.loadClass("com.example." + name).getFields()) {
                    constants.add((PuriCollection) field.get(null));
                }
            }
        }
        return constants;
    }

    @Test
    void anUnchangedFileKeepsItsTimestampAndAnObsoleteFileIsDeleted() throws IOException {
        GenerateMojo.write(folder, Map.of("A", "a", "B", "b"));
        Files.setLastModifiedTime(folder.resolve("A.java"), FileTime.fromMillis(1000));
        GenerateMojo.write(folder, Map.of("A", "a", "C", "c"));
        try (var files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString())).containsExactlyInAnyOrder("A.java", "C.java");
        }
        assertThat(Files.getLastModifiedTime(folder.resolve("A.java")).toMillis())
                .isEqualTo(1000);
    }
}
