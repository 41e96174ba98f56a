package dev.puri.resolver;

import dev.puri.http.Health;
import dev.puri.resolver.feed.TableKeeper;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Health checks of the table.
 *
 * @param untold why subscribers receive no changes; null when they do
 */
record TableHealth(TableKeeper<?> keeper, Supplier<@Nullable String> untold) {
    /** Up once a table was complete; shows the progress of its filling. */
    Health.State started() {
        return new Health.State(keeper.table() != null, keeper.details());
    }

    /** Up while the serving table is fed and its lag is small. */
    Health.State ready() {
        String reason = keeper.unready();
        Map<String, Object> details = keeper.details();
        String trouble = untold.get();
        if (trouble != null) {
            details.put("changes", "not told: " + trouble);
        }
        if (reason == null) {
            return Health.State.up(details);
        }
        details.put("reason", reason);
        return Health.State.down(details);
    }
}
