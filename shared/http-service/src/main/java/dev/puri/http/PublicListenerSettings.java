package dev.puri.http;

import dev.puri.settings.Setting;
import dev.puri.settings.Settings;
import java.util.Map;
import java.util.Optional;

/**
 * Settings of the public listener, which serves only public data: look-ups by handle (resolver) or searches (search
 * server).
 */
public record PublicListenerSettings(
        @Setting(doc = "Address of the public listener.", byDefault = "127.0.0.1")
        String publicHttpHost,

        @Setting(
                doc = "Port of the public listener; 0 for any free port. Without it there is no public listener.",
                atLeast = "0",
                atMost = "65535")
        Optional<Integer> publicHttpPort,

        @Setting(
                doc = "Whether the public listener accepts requests without a token even if access control is on.",
                byDefault = "false")
        boolean publicAnonymous) {
    /** No public listener. */
    public static final PublicListenerSettings OFF =
            Settings.read(PublicListenerSettings.class, Map.of(), Map.of(), null);

    /**
     * Returns the options of the public listener.
     *
     * @param name identifies the listener in metrics and logs
     * @throws java.util.NoSuchElementException if there is no public listener
     */
    public ListenerOptions options(String name, HttpSettings http) {
        ListenerOptions options = ListenerOptions.at(publicHttpHost, publicHttpPort.orElseThrow())
                .named(name)
                .with(http);
        return publicAnonymous ? options.openTo(Scope.RESOLVE) : options;
    }
}
