package dev.puri.client.storage.jackson3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.exc.InvalidFormatException;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.json.JsonMapper;

class PuriModuleTest {
    private static final ObjectMapper JSON =
            JsonMapper.builder().addModule(new PuriModule()).build();

    record Song(
            Puri puri,
            Handle handle,
            Owner owner,
            Shard shard,
            Prefix prefix,
            Position position,
            Map<Puri, Handle> likes,
            Map<Shard, List<Puri>> byShard) {}

    private static final Song SONG = new Song(
            Puri.parse("music:tracks:1"),
            new Handle("trk_4k7vx9tz2nqr8w3"),
            new Owner("catalog"),
            new Shard("br-1"),
            new Prefix("trk"),
            Position.parse("music-3-1042"),
            Map.of(Puri.parse("music:users:2"), new Handle("usr_4k7vx9tz2nqr8w3")),
            Map.of(new Shard("br-2"), List.of(Puri.parse("music:tracks:3"))));

    private static final String TEXT = """
            {"puri":"music:tracks:1","handle":"trk_4k7vx9tz2nqr8w3","owner":"catalog","shard":"br-1","prefix":"trk",\
            "position":"music-3-1042","likes":{"music:users:2":"usr_4k7vx9tz2nqr8w3"},\
            "byShard":{"br-2":["music:tracks:3"]}}""";

    @Test
    void namesAreStringsAndKeys() {
        assertThat(JSON.writeValueAsString(SONG)).isEqualTo(TEXT);
        assertThat(JSON.readValue(TEXT, Song.class)).isEqualTo(SONG);
        assertThat(JSON.readValue("{\"puri\":null}", Song.class).puri()).isNull();
        assertThat(JSON.readValue("\"MUSIC:Tracks:%31\"", Puri.class)).isEqualTo(Puri.parse("music:tracks:1"));
    }

    @Test
    void theModuleIsFound() {
        assertThat(JsonMapper.builder().findAndAddModules().build().writeValueAsString(SONG))
                .isEqualTo(TEXT);
    }

    @Test
    void malformedTextGivesPathAndRule() {
        assertThatThrownBy(() -> JSON.readValue("{\"byShard\":{\"br-2\":[\"a:b:c\",\"a b:100%:c\"]}}", Song.class))
                .isInstanceOf(InvalidFormatException.class)
                .hasMessageContaining("\"a b:100%:c\" at position 1: ' ' is not allowed unescaped; write it as %20")
                .hasMessageContaining("[\"byShard\"]")
                .hasMessageContaining("[1]");
        assertThatThrownBy(() -> JSON.readValue("{\"likes\":{\"a:b\":\"x\"}}", Song.class))
                .isInstanceOf(InvalidFormatException.class)
                .hasMessageContaining("a pURI has three segments")
                .hasMessageContaining("[\"likes\"]");
        assertThatThrownBy(() -> JSON.readValue("{\"handle\":7}", Song.class))
                .isInstanceOf(MismatchedInputException.class)
                .hasMessageContaining("[\"handle\"]");
    }
}
