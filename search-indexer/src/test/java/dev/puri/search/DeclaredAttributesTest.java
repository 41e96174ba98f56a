package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.projection.Follower;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class DeclaredAttributesTest {
    private static final Puri TRACK = Puri.parse("soundcloud:tracks:1");
    private static final Puri USER = Puri.parse("soundcloud:users:1");
    private static final SearchedAttributes BOOSTED = SearchedAttributes.of(Map.of("artist", 5), Set.of());

    private final Map<String, Collection> declarations = new HashMap<>();
    private long now = Duration.ofHours(1).toNanos();
    private @Nullable Long upToDateAt;
    private Runnable onStaleness = () -> {};

    private final DeclaredAttributes declared = new DeclaredAttributes(
            new Follower() {
                @Override
                public boolean hasCaughtUp() {
                    return upToDateAt != null;
                }

                @Override
                public @Nullable Duration staleness() {
                    onStaleness.run();
                    return upToDateAt == null ? null : Duration.ofNanos(now - upToDateAt);
                }

                @Override
                public @Nullable String failureReason() {
                    return null;
                }

                @Override
                public void close() {}
            },
            declarations::get,
            () -> now);

    private void readToTheEnd() {
        advanceClock(Duration.ofMillis(1));
        upToDateAt = now;
        advanceClock(Duration.ofMillis(1));
    }

    private void advanceClock(Duration time) {
        now += time.toNanos();
    }

    private void declare(String name, boolean isSearched) {
        Collection collection =
                new Collection("soundcloud", name, null, Set.of(), isSearched, BOOSTED, false, "", false);
        declarations.put(collection.qualifiedName(), collection);
    }

    private void assertUnknown(Puri puri, long polledAt) {
        assertThatThrownBy(() -> declared.attributesOf(puri, polledAt))
                .isInstanceOf(DeclaredAttributes.UnknownException.class);
    }

    @Test
    void waitsUntilAllDeclarationsAreRead() {
        declare("tracks", true);
        assertUnknown(TRACK, now);
        readToTheEnd();
        assertThat(declared.attributesOf(TRACK, now)).isEqualTo(BOOSTED);
    }

    @Test
    void waitsForARecentDeclaration() {
        readToTheEnd();
        assertUnknown(TRACK, now);
        assertUnknown(TRACK, now);
        declare("tracks", true);
        assertThat(declared.attributesOf(TRACK, now)).isEqualTo(BOOSTED);
    }

    @Test
    void usesTheDefaultForACertainlyUndeclaredCollection() {
        readToTheEnd();
        declare("users", false);
        long polledAt = now;
        assertUnknown(TRACK, polledAt);
        readToTheEnd();
        assertThat(declared.attributesOf(TRACK, polledAt)).isEqualTo(SearchedAttributes.DEFAULT);

        advanceClock(Duration.ofSeconds(9));
        assertThat(declared.attributesOf(TRACK, now)).isEqualTo(SearchedAttributes.DEFAULT);
        assertUnknown(USER, now);

        advanceClock(Duration.ofSeconds(2));
        assertUnknown(TRACK, now);
    }

    @Test
    void doesNotWaitAgainWhileDocumentsKeepArriving() {
        readToTheEnd();
        long polledAt = now;
        readToTheEnd();
        assertThat(declared.attributesOf(TRACK, polledAt)).isEqualTo(SearchedAttributes.DEFAULT);
        for (int i = 0; i < 10; i++) {
            advanceClock(Duration.ofSeconds(3));
            assertThat(declared.attributesOf(TRACK, now)).isEqualTo(SearchedAttributes.DEFAULT);
            readToTheEnd();
            assertThat(declared.attributesOf(TRACK, now)).isEqualTo(SearchedAttributes.DEFAULT);
        }
    }

    @Test
    void usesADeclarationThatIsReadDuringTheLookup() {
        readToTheEnd();
        long polledAt = now;
        readToTheEnd();
        onStaleness = () -> declare("tracks", true);
        assertThat(declared.attributesOf(TRACK, polledAt)).isEqualTo(BOOSTED);
    }

    @Test
    void oneReadToTheEndServesAllEarlierDocuments() {
        readToTheEnd();
        long polledAt = now;
        assertUnknown(TRACK, polledAt);
        readToTheEnd();
        advanceClock(Duration.ofMinutes(1));

        assertThat(declared.attributesOf(TRACK, polledAt)).isEqualTo(SearchedAttributes.DEFAULT);
        assertThat(declared.attributesOf(USER, polledAt)).isEqualTo(SearchedAttributes.DEFAULT);
    }
}
