package dev.puri.settings;

import java.util.Locale;

/**
 * The description of a setting, for documentation and help texts.
 *
 * @param key its name in a settings file, e.g. {@code http.port}
 * @param type what a value must be, as text, e.g. {@code duration}
 * @param byDefault the default; empty for none
 * @param doc one sentence
 * @param isSecret whether logs mask it and a {@code _FILE} variable may name a file that contains it
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
