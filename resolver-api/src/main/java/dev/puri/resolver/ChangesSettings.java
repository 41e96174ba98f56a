package dev.puri.resolver;

import dev.puri.settings.Setting;
import dev.puri.settings.Settings;
import java.time.Duration;
import java.util.Map;

/** Settings of the change feed, of refusals and of exports. */
public record ChangesSettings(
        @Setting(doc = "Most streams of changes at once.", byDefault = "1000", atLeast = "1", atMost = "1000000")
        int maxChangeStreams,

        @Setting(
                doc = "Most bytes that a stream of changes may be behind before it is given no more.",
                byDefault = "1048576",
                atLeast = "4096",
                atMost = "104857600")
        int changesBufferBytes,

        @Setting(
                doc = "Changes that are kept in memory for streams that are behind or come again.",
                byDefault = "50000",
                atLeast = "1",
                atMost = "10000000")
        int changesHistory,

        @Setting(
                doc = "How long a change is kept there; what was erased is not, from then on.",
                byDefault = "1d",
                atLeast = "1m",
                atMost = "30d")
        Duration changesMaxAge,

        @Setting(
                doc = "How often a stream to which nothing is told is told how far it is.",
                byDefault = "15s",
                atLeast = "100ms",
                atMost = "10m")
        Duration changesHeartbeat,

        @Setting(doc = "Most exports at once.", byDefault = "2", atLeast = "1", atMost = "100")
        int maxExports,

        @Setting(doc = "Refusals that are remembered.", byDefault = "100000", atLeast = "1", atMost = "10000000")
        int rejectionsHistory,

        @Setting(
                doc = "How long a refusal is remembered; those of a pURI that was erased are not, from then on.",
                byDefault = "30d",
                atLeast = "1m",
                atMost = "30d")
        Duration rejectionsMaxAge) {
    /** The defaults. */
    public static final ChangesSettings DEFAULT = Settings.read(ChangesSettings.class, Map.of(), Map.of(), null);
}
