package dev.puri.client.outbox;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A wait that fails to end lasts longer than the tests' timeout. */
@Timeout(60)
class PausesTest {
    private static final Duration LONG = Duration.ofHours(1);

    private final Pauses pauses = new Pauses();

    @Test
    void aWakeUpEndsAWaitForRows() throws Exception {
        pauses.wake();
        pauses.waitForRows(LONG);
    }

    @Test
    void aBackOffLeavesTheWakeUpToTheWaitForRows() throws Exception {
        pauses.wake();
        pauses.backOff(Duration.ofNanos(1));
        pauses.waitForRows(LONG);
    }

    @Test
    void closingEndsAllWaits() throws Exception {
        pauses.close();
        pauses.backOff(LONG);
        pauses.waitForRows(LONG);
        pauses.backOff(LONG);
    }
}
