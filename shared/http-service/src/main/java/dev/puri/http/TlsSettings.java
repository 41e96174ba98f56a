package dev.puri.http;

import dev.puri.settings.InvalidSettingsException;
import dev.puri.settings.Setting;
import dev.puri.settings.Settings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** TLS settings of a server's listeners. TLS is on if there is a certificate. */
public record TlsSettings(
        @Setting(doc = "PEM file of the server's certificate and the intermediate certificates; turns TLS on.")
        Optional<Path> tlsCertificate,

        @Setting(doc = "PEM file of the certificate's unencrypted private key.")
        Optional<Path> tlsKey,

        @Setting(doc = "PEM file of the certificate authorities that are trusted for client certificates.")
        Optional<Path> tlsClientCa,

        @Setting(
                doc = "Whether clients are asked for a certificate: none (not asked), request (asked, verified if sent)"
                        + " or required.",
                byDefault = "none")
        String tlsClientAuth) {
    /** No TLS. */
    public static final TlsSettings OFF = Settings.read(TlsSettings.class, Map.of(), Map.of(), null);

    /**
     * @throws InvalidSettingsException with all mistakes: a value is unknown, or settings do not fit together
     */
    public TlsSettings {
        List<String> mistakes = new ArrayList<>();
        if (tlsCertificate.isPresent() != tlsKey.isPresent()) {
            mistakes.add("PURI_TLS_CERTIFICATE and PURI_TLS_KEY: set both or neither");
        }
        switch (tlsClientAuth) {
            case "none" -> {
                if (tlsClientCa.isPresent()) {
                    mistakes.add("PURI_TLS_CLIENT_CA: has no effect while PURI_TLS_CLIENT_AUTH is \"none\"");
                }
            }
            case "request", "required" -> {
                if (tlsCertificate.isEmpty() || tlsClientCa.isEmpty()) {
                    mistakes.add("PURI_TLS_CLIENT_AUTH: \"" + tlsClientAuth
                            + "\" needs PURI_TLS_CERTIFICATE and PURI_TLS_CLIENT_CA");
                }
            }
            default ->
                mistakes.add("PURI_TLS_CLIENT_AUTH: \"" + tlsClientAuth + "\" must be none, request or required");
        }
        InvalidSettingsException.throwIfAny(mistakes);
    }
}
