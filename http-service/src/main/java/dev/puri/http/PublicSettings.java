package dev.puri.http;

import dev.puri.settings.Setting;
import dev.puri.settings.Settings;
import java.util.Map;
import java.util.Optional;

/** What can be set about the public listener, which answers by handles and tells no more than the public may know. */
public record PublicSettings(
        @Setting(doc = "Address that the public listener listens on.", byDefault = "127.0.0.1")
        String publicHttpHost,

        @Setting(
                doc = "Port that the public listener listens on; 0 takes any free one. Without it there is none.",
                atLeast = "0",
                atMost = "65535")
        Optional<Integer> publicHttpPort,

        @Setting(doc = "Whether the public listener answers without a token where security is on.", byDefault = "false")
        boolean publicAnonymous) {
    /** No public listener. */
    public static final PublicSettings OFF = Settings.read(PublicSettings.class, Map.of(), Map.of(), null);

    /**
     * Where and how the public listener listens.
     *
     * @param name by which its requests are told from the internal ones'
     * @throws java.util.NoSuchElementException when there is none
     */
    public ListenerOptions options(String name, HttpSettings http) {
        ListenerOptions options = ListenerOptions.at(publicHttpHost, publicHttpPort.orElseThrow())
                .named(name)
                .with(http);
        return publicAnonymous ? options.openTo(Scope.RESOLVE) : options;
    }
}
