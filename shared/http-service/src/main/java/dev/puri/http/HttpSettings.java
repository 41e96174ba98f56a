package dev.puri.http;

import dev.puri.settings.InvalidSettingsException;
import dev.puri.settings.Setting;
import dev.puri.settings.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The HTTP settings that all servers have; a component of each server's settings record. */
public record HttpSettings(
        @Setting(
                doc = "Hosts that requests may name, in addition to localhost and the address itself; * for any."
                        + " Without it: any host, but no other host on the loopback without tokens and TLS.")
        List<String> httpAllowedHosts,

        HttpLimits limits,
        TlsSettings tls,
        AuthSettings auth) {
    /** The defaults. */
    public static final HttpSettings DEFAULT = Settings.read(HttpSettings.class, Map.of(), Map.of(), null);

    /**
     * @throws IllegalArgumentException if an allowed host is not a host
     */
    public HttpSettings {
        httpAllowedHosts = List.copyOf(httpAllowedHosts);
        List<String> mistakes = new ArrayList<>();
        for (String host : httpAllowedHosts) {
            if (!AllowedHosts.isName(host)) {
                mistakes.add("PURI_HTTP_ALLOWED_HOSTS: \"" + host
                        + "\" is not a host without a port, such as registry.example.org or [2001:db8::1], or *");
            }
        }
        InvalidSettingsException.throwIfAny(mistakes);
    }
}
