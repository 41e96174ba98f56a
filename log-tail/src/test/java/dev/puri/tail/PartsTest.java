package dev.puri.tail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class PartsTest {
    @Test
    void whatWasStartedLastIsClosedFirstAndAllOfIt() {
        List<String> closed = new ArrayList<>();
        Parts parts = new Parts();
        parts.add("metrics", closed::add);
        parts.add("table", part -> {
            throw new IllegalStateException(part);
        });
        parts.add("listener", closed::add);
        parts.beforeThose(() -> closed.add("drain"));

        assertThatThrownBy(parts::close).hasMessage("table");
        parts.close();
        assertThat(closed).containsExactly("drain", "listener", "metrics");
    }
}
