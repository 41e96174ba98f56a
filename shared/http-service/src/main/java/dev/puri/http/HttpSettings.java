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
                doc = "Accepted Host headers, without ports, besides localhost and the server's own address; "
                        + "* for all. If not set, all are accepted, except on a loopback address with neither tokens nor "
                        + "TLS, where only localhost and loopback addresses are.")
        List<String> httpAllowedHosts,

        HttpLimits limits,
        TlsSettings tls,
        AuthSettings auth) {
    /** All settings have their default values: no TLS, no tokens. */
    public static final HttpSettings DEFAULT = Settings.read(HttpSettings.class, Map.of(), Map.of(), null);

    /**
     * @throws IllegalArgumentException if an allowed host is neither {@code *} nor a host without a port
     */
    public HttpSettings {
        httpAllowedHosts = List.copyOf(httpAllowedHosts);
        List<String> mistakes = new ArrayList<>();
        for (String host : httpAllowedHosts) {
            if (!AllowedHosts.isValidSetting(host)) {
                mistakes.add("PURI_HTTP_ALLOWED_HOSTS: \"" + host
                        + "\" must be * or a host without a port, for example registry.example.org or [2001:db8::1]");
            }
        }
        InvalidSettingsException.throwIfAny(mistakes);
    }
}
