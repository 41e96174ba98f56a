package dev.puri.resolver;

import dev.puri.http.Health;
import dev.puri.resolver.feed.TableKeeper;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How the table stands, as health checks.
 *
 * @param untold why changes are not told; null when they are
 */
record TableHealth(TableKeeper<?> keeper, Supplier<@Nullable String> untold) {
    /** Up for good once a table was complete; shows how far the filling is. */
    Health.State started() {
        return new Health.State(keeper.table() != null, keeper.details());
    }

    /** Up while the table that answers is fed, and close to the end of its topic. */
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
