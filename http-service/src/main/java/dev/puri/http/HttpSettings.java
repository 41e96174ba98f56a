package dev.puri.http;

import java.util.Map;

/** What can be set about the listeners of any server; a component of its settings record. */
public record HttpSettings(HttpLimits limits, TlsSettings tls, AuthSettings auth) {
    /** The defaults. */
    public static final HttpSettings DEFAULT = Settings.read(HttpSettings.class, Map.of(), Map.of(), null);
}
