package dev.puri.resolver;

import dev.puri.http.Health;
import dev.puri.resolver.feed.TableKeeper;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Health checks of the table.
 *
 * @param changesFailure supplies the reason why subscribers receive no changes; null if they receive changes
 */
record TableHealth(TableKeeper<?> keeper, Supplier<@Nullable String> changesFailure) {
    /** Up after the first table is complete; the details show the progress of the restore. */
    Health.State started() {
        return new Health.State(keeper.table() != null, keeper.status().details());
    }

    /** Up while the serving table is fed and its lag is small; the details show why it is not. */
    Health.State ready() {
        String reason = keeper.status().unreadyReason();
        Map<String, Object> details = keeper.status().details();
        String failure = changesFailure.get();
        if (failure != null) {
            details.put("changes", "not sent: " + failure);
        }
        if (reason == null) {
            return Health.State.up(details);
        }
        details.put("reason", reason);
        return Health.State.down(details);
    }
}
