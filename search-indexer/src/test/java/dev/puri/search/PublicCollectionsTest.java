package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.LiveDeclarations;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class PublicCollectionsTest {
    @Test
    void computesThePublicCollectionsOncePerChange() {
        LiveDeclarations live = new LiveDeclarations();
        PublicCollections open = new PublicCollections();
        assertThat(open.of(live.snapshot())).isEmpty();
        live.put(collection("users", true, true));
        live.put(collection("tracks", true, true));
        live.put(collection("bills", true, false));
        live.put(collection("notes", false, true));

        Set<String> names = open.of(live.snapshot());

        assertThat(names).containsExactly("soundcloud:tracks", "soundcloud:users");
        assertThat(open.of(live.snapshot())).isSameAs(names);
        assertThatThrownBy(() -> names.add("a:b")).isInstanceOf(UnsupportedOperationException.class);
        live.put(collection("tracks", true, false));
        assertThat(open.of(live.snapshot())).containsExactly("soundcloud:users");
    }

    private static Collection collection(String name, boolean search, boolean isPublic) {
        return new Collection("soundcloud", name, null, Set.of(), search, isPublic, "", false);
    }
}
