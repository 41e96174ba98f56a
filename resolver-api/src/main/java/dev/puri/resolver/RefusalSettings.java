package dev.puri.resolver;

import dev.puri.settings.Setting;
import dev.puri.settings.Settings;
import java.time.Duration;
import java.util.Map;

/** Settings of the refusals that a resolver keeps in memory. */
public record RefusalSettings(
        @Setting(
                doc = "Maximum number of refusals in memory.",
                byDefault = "100000",
                atLeast = "1",
                atMost = "10000000")
        int rejectionsHistory,

        @Setting(
                doc = "How long a refusal stays in memory; refusals of an erased pURI are removed at once.",
                byDefault = "30d",
                atLeast = "1m",
                atMost = "30d")
        Duration rejectionsMaxAge) {
    /** The defaults. */
    public static final RefusalSettings DEFAULT = Settings.read(RefusalSettings.class, Map.of(), Map.of(), null);
}
