package dev.puri.resolver;

import dev.puri.settings.Setting;
import dev.puri.settings.Settings;
import java.time.Duration;
import java.util.Map;

/** Settings of the change feed and of exports. */
public record ChangesSettings(
        @Setting(
                doc = "Maximum number of change streams at a time.",
                byDefault = "1000",
                atLeast = "1",
                atMost = "1000000")
        int maxChangeStreams,

        @Setting(
                doc = "A change stream with this number of unread bytes receives no further changes until its client"
                        + " reads.",
                byDefault = "1048576",
                atLeast = "4096",
                atMost = "104857600")
        int changesBufferBytes,

        @Setting(
                doc = "Maximum number of changes in memory, for streams that are slow or that connect again.",
                byDefault = "50000",
                atLeast = "1",
                atMost = "10000000")
        int changesHistory,

        @Setting(
                doc = "How long a change stays in memory; changes of an erased identity are removed at once.",
                byDefault = "1d",
                atLeast = "1m",
                atMost = "30d")
        Duration changesMaxAge,

        @Setting(
                doc = "Interval at which an idle change stream receives an event with the id to continue from.",
                byDefault = "15s",
                atLeast = "100ms",
                atMost = "10m")
        Duration changesHeartbeat,

        @Setting(doc = "Maximum number of exports at a time.", byDefault = "2", atLeast = "1", atMost = "100")
        int maxExports) {
    /** The defaults. */
    public static final ChangesSettings DEFAULT = Settings.read(ChangesSettings.class, Map.of(), Map.of(), null);
}
