package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ResourceStackTest {
    private final List<String> closed = new ArrayList<>();
    private final ResourceStack resources = new ResourceStack();

    @Test
    void closesInReverseOrderDespiteFailures() {
        resources.add("metrics", closed::add);
        resources.add("table", part -> {
            throw new IllegalStateException(part);
        });
        resources.add("listener", closed::add);
        resources.runBeforeClosing(() -> closed.add("drain"));

        assertThatThrownBy(resources::close).hasMessage("table");
        resources.close();
        assertThat(closed).containsExactly("drain", "listener", "metrics");
    }

    @Test
    void anErrorOfOnePartKeepsNoOtherOpen() {
        resources.add("metrics", closed::add);
        resources.add("table", part -> {
            throw new IllegalStateException(part);
        });
        resources.add("feed", part -> {
            throw new NoSuchMethodError(part);
        });

        assertThatThrownBy(resources::close)
                .isInstanceOf(NoSuchMethodError.class)
                .hasMessage("feed")
                .hasSuppressedException(new IllegalStateException("table"));
        assertThat(closed).containsExactly("metrics");
    }

    @Test
    void aFailureThatTwoPartsShareIsThrownOnce() {
        AssertionError failure = new AssertionError("shared");
        resources.add("metrics", closed::add);
        for (int i = 0; i < 2; i++) {
            resources.runBeforeClosing(() -> {
                throw failure;
            });
        }

        assertThatThrownBy(resources::close).isSameAs(failure).hasNoSuppressedExceptions();
        assertThat(closed).containsExactly("metrics");
    }

    @Test
    void afterAFailedStartTheFailureIsKept() {
        IllegalStateException failure = new IllegalStateException("start");
        resources.add("metrics", closed::add);
        resources.add("table", part -> {
            throw new IllegalStateException(part);
        });
        resources.runBeforeClosing(() -> {
            throw failure;
        });

        resources.closeAfter(failure);

        assertThat(failure.getSuppressed())
                .singleElement()
                .satisfies(suppressed -> assertThat(suppressed).hasMessage("table"));
        assertThat(closed).containsExactly("metrics");
    }
}
