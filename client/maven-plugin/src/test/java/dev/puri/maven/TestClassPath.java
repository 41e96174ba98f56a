package dev.puri.maven;

import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** The class path of generated classes, taken from this test's class path. */
final class TestClassPath {
    private TestClassPath() {}

    static String of(Class<?> test) {
        return List.of(
                        test,
                        dev.puri.client.PuriCollection.class,
                        dev.puri.schemas.identity.Puri.class,
                        org.jspecify.annotations.Nullable.class)
                .stream()
                .map(TestClassPath::place)
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static String place(Class<?> each) {
        try {
            return Path.of(each.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
