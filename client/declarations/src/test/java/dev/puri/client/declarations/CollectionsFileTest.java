package dev.puri.client.declarations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.puri.client.declarations.CollectionsFile.InvalidFileException;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.collection.WriteMode;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CollectionsFileTest {
    private static List<Declaration> read(String yaml) throws IOException {
        return CollectionsFile.read("c.yaml", new StringReader(yaml));
    }

    private static void assertMistakes(String yaml, String... mistakes) {
        assertThatThrownBy(() -> read(yaml))
                .isInstanceOf(InvalidFileException.class)
                .hasMessage(String.join("\n", mistakes));
    }

    @Test
    void everyFieldIsRead() throws IOException {
        assertThat(read("""
                # What exists.
                namespaces:
                  music: {ownsTopic: true}
                  "Sound.Cloud":
                    ownsTopic: false
                  plain: {}
                collections:
                  - name: soundcloud:tracks
                    prefix: TRK
                    owners: [catalog, "rights"]
                    search: true
                    public: true
                    description: >
                      Songs,
                      as uploaded
                    retired: false
                  - name: revenue:bills
                  - {name: revenue:orders, retired: true, owners: , prefix: ~}
                """))
                .containsExactly(
                        new Namespace("music", true),
                        new Namespace("sound.cloud", false),
                        new Namespace("plain", false),
                        new Collection(
                                "soundcloud",
                                "tracks",
                                new Prefix("trk"),
                                Set.of(new Owner("catalog"), new Owner("rights")),
                                true,
                                true,
                                "Songs, as uploaded",
                                false),
                        new Collection("revenue", "bills", null, Set.of(), false, false, "", false),
                        new Collection("revenue", "orders", null, Set.of(), false, false, "", true));
    }

    @Test
    void searchMayDeclareWeightsAndDisplayOnlyAttributes() throws IOException {
        assertThat(read("""
                collections:
                  - name: soundcloud:tracks
                    search: {boost: {title: 3, artist: 5}, shown: [checksum]}
                  - name: soundcloud:users
                    search: {}
                """))
                .extracting(each -> ((Collection) each).search(), each -> ((Collection) each).attributes())
                .containsExactly(
                        tuple(true, SearchedAttributes.of(Map.of("title", 3, "artist", 5), Set.of("checksum"))),
                        tuple(true, SearchedAttributes.DEFAULT));
        assertMistakes(
                """
                collections:
                  - name: a:b
                    search:
                      boost: {title: much, artist: 9}
                      hidden: [x]
                  - name: a:c
                    search: {boost: {title: 2}, shown: [title]}
                  - name: a:d
                    search: maybe
                """,
                "c.yaml:4: the boost of title: must be a whole number from 1 to 5, not much",
                "c.yaml:4: the boost of artist is a whole number from 1 to 5, not 9",
                "c.yaml:5: unknown key \"hidden\" in search; known: boost, shown",
                "c.yaml:7: title is in both boost and shown; attributes in shown are not searched",
                "c.yaml:9: search must be true, false or how attributes are searched, as in {boost: {title: 3}}");
    }

    @Test
    void namespacesAndCollectionsMayDeclareAMode() throws IOException {
        assertThat(read("""
                namespaces:
                  archive: {mode: READ_ONLY}
                  music: {ownsTopic: true, mode: READ_WRITE, importer: ~}
                collections:
                  - {name: soundcloud:tracks, mode: IMPORT, importer: legacy-import}
                  - name: soundcloud:users
                """))
                .extracting(Declaration::key, Declaration::mode)
                .containsExactly(
                        tuple("archive", WriteMode.READ_ONLY),
                        tuple("music", WriteMode.READ_WRITE),
                        tuple("soundcloud:tracks", WriteMode.importBy("legacy-import")),
                        tuple("soundcloud:users", WriteMode.READ_WRITE));
        assertMistakes(
                """
                namespaces:
                  archive:
                    mode: readonly
                  music: {mode: IMPORT}
                  video:
                    importer: legacy-import
                  audio: {mode: [READ_ONLY]}
                collections:
                  - name: soundcloud:tracks
                    mode: IMPORT
                    importer: ""
                  - name: soundcloud:users
                    mode: IMPORT
                    importer:
                  - name: soundcloud:lists
                    mode: READ_ONLY
                    importer: legacy-import
                """,
                "c.yaml:3: mode must be READ_WRITE, READ_ONLY or IMPORT, not readonly",
                "c.yaml:4: mode IMPORT needs an importer, the source of the accepted events",
                "c.yaml:6: an importer needs mode IMPORT, the mode is READ_WRITE",
                "c.yaml:7: mode must be a plain text",
                "c.yaml:10: importer must have 1 to 255 characters without control characters",
                "c.yaml:13: mode IMPORT needs an importer, the source of the accepted events",
                "c.yaml:16: an importer needs mode IMPORT, the mode is READ_ONLY");
    }

    @Test
    void allMistakesAreListedTogetherWithTheirLines() {
        assertMistakes(
                """
                namespaces:
                  café: {ownsTopic: true}
                  music: {ownTopic: true}
                  music: {}
                collectoins: []
                collections:
                  - name: soundcloud:tracks
                    prefx: trk
                    prefix: tracks
                    public: yes
                    owners: [catalog, "no spaces", catalog]
                  - prefix: abc
                  - name: soundcloud
                  - name: sound cloud:tracks
                  - name: SoundCloud:TRACKS
                  - just text
                  - name: [a, b]
                """,
                "c.yaml:2: the namespace caf%C3%A9 cannot own a topic: names of topics are made of a-z 0-9 . _ - and this"
                        + " name has other characters",
                "c.yaml:3: unknown key \"ownTopic\" in the namespace music; known: ownsTopic, mode, importer",
                "c.yaml:4: \"music\" appears twice in namespaces",
                "c.yaml:5: unknown key \"collectoins\" in the file; known: namespaces, collections",
                "c.yaml:8: unknown key \"prefx\" in a collection; known: name, prefix, owners, search, public,"
                        + " description, retired, mode, importer",
                "c.yaml:9: prefix: \"tracks\": a prefix is three letters a-z",
                "c.yaml:10: public must be true or false",
                "c.yaml:11: owners: \"no spaces\" at position 2: an owner is made of A-Z a-z 0-9 ._~:/@+-",
                "c.yaml:11: owners: catalog appears twice",
                "c.yaml:12: a collection needs a name, as in name: soundcloud:tracks",
                "c.yaml:13: name: soundcloud is not namespace:collection",
                "c.yaml:14: \"sound cloud:tracks:x\" at position 5: ' ' is not allowed unescaped; write it as %20",
                "c.yaml:15: soundcloud:tracks is declared twice, first in line 7",
                "c.yaml:16: a collection must be a mapping, as in \"key: value\"",
                "c.yaml:17: name must be a plain text");
    }

    @Test
    void invalidYamlIsAMistakeWithItsLine() {
        assertMistakes(
                "collections:\n  - name: [\n",
                "c.yaml:3: not YAML: expected the node content, but found '<stream end>'");
        assertMistakes("", "c.yaml:1: the file is empty; it must declare namespaces, collections or both");
        assertMistakes("- a\n", "c.yaml:1: the file must be a mapping, as in \"key: value\"");
        assertMistakes(
                "collections: {a: b}\n",
                "c.yaml:1: collections must be a list, each with \"- name: namespace:collection\"");
    }

    @Test
    void wordsThatOlderYamlTakesForBooleansAreNames() throws IOException {
        assertThat(read("namespaces: {no: {}, on: {}}\n"))
                .containsExactly(new Namespace("no", false), new Namespace("on", false));
    }
}
