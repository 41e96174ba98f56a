package dev.puri.client.testing;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import org.jspecify.annotations.Nullable;

/** Finds and opens files on the class path of the tests. */
final class Resources {
    private Resources() {}

    /** Returns the URL of a file; null if the file is missing. */
    static @Nullable URL find(String name) {
        ClassLoader testLoader = Thread.currentThread().getContextClassLoader();
        URL found = testLoader == null ? null : testLoader.getResource(name);
        return found != null ? found : Resources.class.getClassLoader().getResource(name);
    }

    /**
     * Opens a file.
     *
     * @throws IllegalArgumentException if the file is missing
     */
    static InputStream open(String name) throws IOException {
        URL found = find(name);
        if (found == null) {
            throw new IllegalArgumentException(name + " is not on the class path of the tests");
        }
        return found.openStream();
    }
}
