package dev.puri.tail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.schemas.serde.RegistryUnavailableException;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class CatalogueTest {
    private static final Puri TRACK = Puri.parse("music:tracks:1");

    private final InMemorySchemaRegistry registry = new InMemorySchemaRegistry();
    private final Written written = new Written(registry);
    private final FakeHearing hearing = new FakeHearing();
    private final List<TopicTail.Reader> readers = new ArrayList<>();
    private final Catalogue catalogue = new Catalogue(registry, Duration.ofSeconds(30), reader -> {
        readers.add(reader);
        return hearing;
    });

    @Test
    void isPublicAsLongAsItIsDeclaredSo() {
        hearing.age = Duration.ZERO;
        assertThat(catalogue.isPublic(TRACK.qualifiedCollection())).isFalse();

        take(Written.tracks(true));
        assertThat(catalogue.isPublic(TRACK.qualifiedCollection())).isTrue();
        assertThat(catalogue.isPublic("music:tracks-2")).isFalse();

        take(Written.tracks(false));
        assertThat(catalogue.isPublic(TRACK.qualifiedCollection())).isFalse();
    }

    @Test
    void beforeItIsReadNothingIsPublic() {
        take(Written.tracks(true));
        assertThat(catalogue.isPublic(TRACK.qualifiedCollection())).isFalse();
        assertThat(catalogue.hasCaughtUp()).isFalse();

        hearing.age = Duration.ZERO;
        assertThat(catalogue.isPublic(TRACK.qualifiedCollection())).isTrue();
    }

    @Test
    void whenNothingWasHeardForTooLongNothingIsPublic() {
        take(Written.tracks(true));
        hearing.age = Duration.ofSeconds(30);
        assertThat(catalogue.isPublic(TRACK.qualifiedCollection())).isTrue();

        hearing.age = Duration.ofMillis(30_001);
        assertThat(catalogue.isPublic(TRACK.qualifiedCollection())).isFalse();
        assertThat(catalogue.declarations().collections()).hasSize(1);
    }

    @Test
    void whatIsTakenBackOrCannotBeReadIsNotPublic() {
        hearing.age = Duration.ZERO;
        take(Written.tracks(true));
        readers.getFirst().take(Written.read(Topics.COLLECTIONS, Written.utf8("music:tracks"), null));
        assertThat(catalogue.isPublic(TRACK.qualifiedCollection())).isFalse();

        take(Written.tracks(true));
        byte[] noAvro = {0, 0, 0, 0, 9, 1};
        readers.getFirst().take(Written.read(Topics.COLLECTIONS, Written.utf8("music:tracks"), noAvro));
        assertThat(catalogue.isPublic(TRACK.qualifiedCollection())).isFalse();

        take(Written.tracks(true));
        readers.getFirst().anew();
        assertThat(catalogue.isPublic(TRACK.qualifiedCollection())).isFalse();
    }

    @Test
    void aSchemaRegistryThatIsAwayIsWaitedFor() {
        registry.setAway(true);
        assertThatThrownBy(() -> take(Written.tracks(true))).isInstanceOf(RegistryUnavailableException.class);
    }

    @Test
    void theViewListsWhatIsDeclared() throws Exception {
        take(Written.tracks(true));
        take(new Collection("art", "films", null, Set.of(), false, false, "", true));
        take(Written.ownTopic("music"));

        StringWriter text = new StringWriter();
        try (JsonGenerator json = JsonFactory.builder().build().createGenerator(text)) {
            CollectionsView.write(json, catalogue.declarations());
        }

        assertThat(text)
                .hasToString("{\"collections\":[{\"collection\":\"art:films\",\"owners\":[],\"search\":false,"
                        + "\"public\":false,\"retired\":true,\"eventsTopic\":\"puri.events.v1\",\"description\":\"\"},"
                        + "{\"collection\":\"music:tracks\",\"prefix\":\"trk\",\"owners\":[\"catalog\",\"search\"],"
                        + "\"search\":true,\"public\":true,\"retired\":false,\"eventsTopic\":\"puri.events.v1.music\","
                        + "\"description\":\"What can be \\\"heard\\\"\"}],\"total\":2}");
    }

    private void take(Declaration declaration) {
        readers.getFirst().take(Written.read(written.record(declaration)));
    }
}
