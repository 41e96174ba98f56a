package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.collection.WriteMode;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistryUnavailableException;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class DeclaredCollectionsTest {
    private static final Puri TRACK = Puri.parse("music:tracks:1");

    private final InMemorySchemaRegistry registry = new InMemorySchemaRegistry();
    private final Written written = new Written(registry);
    private final FakeFollower follower = new FakeFollower();
    private final List<TopicFollower.Handler> handlers = new ArrayList<>();
    private final DeclaredCollections collections =
            new DeclaredCollections(registry, Duration.ofSeconds(30), handler -> {
                handlers.add(handler);
                return follower;
            });

    @Test
    void isPublicAsLongAsItIsDeclaredSo() {
        follower.staleness = Duration.ZERO;
        assertThat(collections.isPublic(TRACK.qualifiedCollection())).isFalse();

        take(Written.tracks(true));
        assertThat(collections.isPublic(TRACK.qualifiedCollection())).isTrue();
        assertThat(collections.isPublic("music:tracks-2")).isFalse();

        take(Written.tracks(false));
        assertThat(collections.isPublic(TRACK.qualifiedCollection())).isFalse();
    }

    @Test
    void beforeItIsReadNothingIsPublic() {
        take(Written.tracks(true));
        assertThat(collections.isPublic(TRACK.qualifiedCollection())).isFalse();
        assertThat(collections.follower().hasCaughtUp()).isFalse();

        follower.staleness = Duration.ZERO;
        assertThat(collections.isPublic(TRACK.qualifiedCollection())).isTrue();
    }

    @Test
    void aStaleViewHasNoPublicNames() {
        take(Written.tracks(true));
        follower.staleness = Duration.ofSeconds(30);
        assertThat(collections.isPublic(TRACK.qualifiedCollection())).isTrue();

        follower.staleness = Duration.ofMillis(30_001);
        assertThat(collections.isPublic(TRACK.qualifiedCollection())).isFalse();
        assertThat(collections.declarations().collections()).hasSize(1);
    }

    @Test
    void revokedAndUnreadableDeclarationsAreNotPublic() {
        follower.staleness = Duration.ZERO;
        take(Written.tracks(true));
        handlers.getFirst().handle(Written.read(Topics.COLLECTIONS, Written.utf8("music:tracks"), null));
        assertThat(collections.isPublic(TRACK.qualifiedCollection())).isFalse();

        take(Written.tracks(true));
        byte[] noAvro = {0, 0, 0, 0, 9, 1};
        handlers.getFirst().handle(Written.read(Topics.COLLECTIONS, Written.utf8("music:tracks"), noAvro));
        assertThat(collections.isPublic(TRACK.qualifiedCollection())).isFalse();

        take(Written.tracks(true));
        handlers.getFirst().reset();
        assertThat(collections.isPublic(TRACK.qualifiedCollection())).isFalse();
    }

    @Test
    void waitsForAnUnavailableSchemaRegistry() {
        registry.setAway(true);
        assertThatThrownBy(() -> take(Written.tracks(true))).isInstanceOf(SchemaRegistryUnavailableException.class);
    }

    @Test
    void theViewListsDeclaredCollections() throws Exception {
        take(Written.tracks(true));
        take(new Collection("art", "films", null, Set.of(), false, false, "", true));
        take(Written.ownTopic("music"));
        take(new Namespace("art", false, WriteMode.importBy("legacy-import")));

        StringWriter text = new StringWriter();
        try (JsonGenerator json = JsonFactory.builder().build().createGenerator(text)) {
            CollectionsView.write(json, collections.declarations());
        }

        assertThat(text)
                .hasToString("{\"collections\":[{\"collection\":\"art:films\",\"owners\":[],\"search\":false,"
                        + "\"public\":false,\"retired\":true,\"mode\":\"READ_WRITE\",\"eventsTopic\":\"puri.events.v1\",\"description\":\"\"},"
                        + "{\"collection\":\"music:tracks\",\"prefix\":\"trk\",\"owners\":[\"catalog\",\"search\"],"
                        + "\"search\":true,\"public\":true,\"retired\":false,\"mode\":\"READ_WRITE\","
                        + "\"eventsTopic\":\"puri.events.v1.music\","
                        + "\"description\":\"What can be \\\"heard\\\"\"}],\"total\":2,\"namespaces\":["
                        + "{\"namespace\":\"art\",\"eventsTopic\":\"puri.events.v1\",\"mode\":\"IMPORT\","
                        + "\"importer\":\"legacy-import\"},"
                        + "{\"namespace\":\"music\",\"eventsTopic\":\"puri.events.v1.music\","
                        + "\"mode\":\"READ_WRITE\"}]}");
    }

    private void take(Declaration declaration) {
        handlers.getFirst().handle(Written.read(written.record(declaration)));
    }
}
