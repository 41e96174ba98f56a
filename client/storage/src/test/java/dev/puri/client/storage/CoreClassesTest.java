package dev.puri.client.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.client.Identities;
import dev.puri.schemas.identity.Puri;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The core of the jar with only schemas and client on the class path: no framework, no parser, no driver. */
class CoreClassesTest {
    private static final String PACKAGE = "dev.puri.client.storage.";

    private static URL place(Class<?> of) {
        return of.getProtectionDomain().getCodeSource().getLocation();
    }

    @Test
    void itsClassesLoadAndMapWithoutAnyOptionalDependency() throws Exception {
        Path classes = Path.of(place(PuriColumns.class).toURI());
        List<String> names;
        try (Stream<Path> files = Files.list(classes.resolve(PACKAGE.replace('.', '/')))) {
            names = files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(".class") && !file.equals("package-info.class"))
                    .map(file -> PACKAGE + file.substring(0, file.length() - ".class".length()))
                    .toList();
        }
        assertThat(names).contains(PuriColumns.class.getName(), PuriMappings.class.getName());
        URL[] places = {place(PuriColumns.class), place(Puri.class), place(Identities.class)};
        try (URLClassLoader loader = new URLClassLoader(places, ClassLoader.getPlatformClassLoader())) {
            for (String name : names) {
                Class<?> loaded = Class.forName(name, true, loader);
                assertThat(loaded.getClassLoader()).isSameAs(loader);
                assertThat(loaded.getDeclaredMethods())
                        .as("all that its methods name is there")
                        .isNotNull();
            }
            Class<?> puri = loader.loadClass(Puri.class.getName());
            Class<?> columns = loader.loadClass(PuriColumns.class.getName());
            Object users = columns.getMethod("of", String.class, String.class).invoke(null, "music", "users");
            Object mapping = columns.getMethod("asLong").invoke(users);
            Object user = puri.getMethod("parse", String.class).invoke(null, "music:users:42");
            assertThat(mapping.getClass().getMethod("store", Object.class).invoke(mapping, user))
                    .isEqualTo(42L);
            for (String optional : List.of(
                    "jackson.PuriModule",
                    "jackson3.PuriModule",
                    "jpa.PuriConverter",
                    "hibernate.PuriType",
                    "jaxrs.PuriParamConverters")) {
                assertThatThrownBy(() -> Class.forName(PACKAGE + optional, true, loader))
                        .as("the frameworks are out of this loader's reach")
                        .isInstanceOf(NoClassDefFoundError.class);
            }
        }
    }
}
