package dev.puri.client.testing;

import dev.puri.client.declarations.CollectionsFile;
import dev.puri.schemas.collection.Declaration;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds and reads files on the class path of the tests. */
final class Resources {
    private Resources() {}

    /** Returns the URL of a file; null if the file is missing. */
    static @Nullable URL find(String name) {
        ClassLoader testLoader = Thread.currentThread().getContextClassLoader();
        URL found = testLoader == null ? null : testLoader.getResource(name);
        return found != null ? found : Resources.class.getClassLoader().getResource(name);
    }

    /**
     * Reads a file of declarations.
     *
     * @throws IllegalArgumentException if the file is missing or has mistakes
     */
    static List<Declaration> declarations(String name) {
        URL found = find(name);
        if (found == null) {
            throw new IllegalArgumentException(name + " is not on the class path of the tests");
        }
        try (Reader text = new InputStreamReader(found.openStream(), StandardCharsets.UTF_8)) {
            return CollectionsFile.read(name, text);
        } catch (IOException e) {
            throw new UncheckedIOException(name + " cannot be read", e);
        }
    }
}
