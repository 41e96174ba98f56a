package dev.puri.schemas.collection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

final class LiveDeclarationsTest {
    private final LiveDeclarations live = new LiveDeclarations();

    @Test
    void theSnapshotIsTheSameUntilADeclarationChanges() {
        live.put(collection("tracks"));
        Declarations before = live.snapshot();
        assertThat(live.snapshot()).isSameAs(before);

        live.put(collection("users"));
        Declarations after = live.snapshot();
        assertThat(after.collections()).hasSize(2);
        assertThat(before.collections()).hasSize(1);

        live.remove(collection("users").key());
        assertThat(live.snapshot().collections()).hasSize(1);
    }

    private static Collection collection(String name) {
        return new Collection("soundcloud", name, null, Set.of(), true, true, "", false);
    }
}
