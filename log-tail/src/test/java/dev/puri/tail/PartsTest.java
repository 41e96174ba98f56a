package dev.puri.tail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class PartsTest {
    private final List<String> closed = new ArrayList<>();
    private final Parts parts = new Parts();

    @Test
    void closesInReverseOrderAndGoesOnAfterAFailure() {
        parts.add("metrics", closed::add);
        parts.add("table", part -> {
            throw new IllegalStateException(part);
        });
        parts.add("listener", closed::add);
        parts.runBeforeClosing(() -> closed.add("drain"));

        assertThatThrownBy(parts::close).hasMessage("table");
        parts.close();
        assertThat(closed).containsExactly("drain", "listener", "metrics");
    }

    @Test
    void anErrorOfOnePartKeepsNoOtherOpen() {
        parts.add("metrics", closed::add);
        parts.add("table", part -> {
            throw new IllegalStateException(part);
        });
        parts.add("feed", part -> {
            throw new NoSuchMethodError(part);
        });

        assertThatThrownBy(parts::close)
                .isInstanceOf(NoSuchMethodError.class)
                .hasMessage("feed")
                .hasSuppressedException(new IllegalStateException("table"));
        assertThat(closed).containsExactly("metrics");
    }

    @Test
    void aFailureThatTwoPartsShareIsThrownOnce() {
        AssertionError failure = new AssertionError("shared");
        parts.add("metrics", closed::add);
        for (int i = 0; i < 2; i++) {
            parts.runBeforeClosing(() -> {
                throw failure;
            });
        }

        assertThatThrownBy(parts::close).isSameAs(failure).hasNoSuppressedExceptions();
        assertThat(closed).containsExactly("metrics");
    }
}
