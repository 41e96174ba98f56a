package dev.puri.client.testing;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import org.jspecify.annotations.Nullable;

/** Files on the class path of the tests. */
final class Resources {
    private Resources() {}

    /** Finds a file; null if there is none of that name. */
    static @Nullable URL find(String name) {
        ClassLoader tests = Thread.currentThread().getContextClassLoader();
        URL found = tests == null ? null : tests.getResource(name);
        return found != null ? found : Resources.class.getClassLoader().getResource(name);
    }

    /**
     * Opens a file.
     *
     * @throws IllegalArgumentException if there is none of that name
     */
    static InputStream open(String name) throws IOException {
        URL found = find(name);
        if (found == null) {
            throw new IllegalArgumentException(name + " is not on the class path of the tests");
        }
        return found.openStream();
    }
}
