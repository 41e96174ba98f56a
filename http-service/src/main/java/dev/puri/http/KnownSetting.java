package dev.puri.http;

import java.util.Locale;

/**
 * A setting as the documentation lists it.
 *
 * @param key its name in a settings file, e.g. {@code http.port}
 * @param type what its value is, for people, e.g. {@code duration}
 * @param byDefault what holds when nothing is said; empty for none
 * @param doc one sentence
 * @param isSecret whether it is masked, and may be given as a file's content
 */
public record KnownSetting(String key, String type, String byDefault, String doc, boolean isSecret) {
    static final String ENVIRONMENT_PREFIX = "PURI_";

    /** Its name in the environment, e.g. {@code PURI_HTTP_PORT}. */
    public String environmentName() {
        return environmentName(key);
    }

    /** Its name on a command line, e.g. {@code --http-port}. */
    public String flag() {
        return "--" + key.replace('.', '-');
    }

    static String environmentName(String key) {
        return ENVIRONMENT_PREFIX + key.toUpperCase(Locale.ROOT).replace('.', '_');
    }
}
