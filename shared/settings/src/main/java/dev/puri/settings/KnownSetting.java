package dev.puri.settings;

import java.util.Locale;

/**
 * The description of a setting, for documentation and help texts.
 *
 * @param key the setting's name in a settings file, e.g. {@code http.port}
 * @param type the expected kind of value, as text, e.g. {@code duration}
 * @param byDefault the default value; empty if the setting has none
 * @param doc the help text, one or more sentences
 * @param isSecret whether the value is secret: logs mask it, and a variable that ends in {@code _FILE} may name a file
 *     that contains it
 */
public record KnownSetting(String key, String type, String byDefault, String doc, boolean isSecret) {
    static final String ENVIRONMENT_PREFIX = "PURI_";

    /** Returns the setting's environment variable, e.g. {@code PURI_HTTP_PORT}. */
    public String environmentName() {
        return environmentName(key);
    }

    /** Returns the setting's command-line option, e.g. {@code --http-port}. */
    public String flag() {
        return "--" + key.replace('.', '-');
    }

    static String environmentName(String key) {
        return ENVIRONMENT_PREFIX + key.toUpperCase(Locale.ROOT).replace('.', '_');
    }
}
