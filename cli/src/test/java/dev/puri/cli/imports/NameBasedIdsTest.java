package dev.puri.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

final class NameBasedIdsTest {
    private static final Puri ONE = Puri.parse("music:tracks:1");

    /** Made once with Python's hashlib and uuid5: a later release must make the same ids. */
    @Test
    void idsNeverChange() {
        assertThat(NameBasedIds.uuid(NameBasedIds.Version.V8, ONE))
                .isEqualTo(UUID.fromString("c2b7e705-edfd-80c6-b1e5-1dd8bb5734a6"));
        assertThat(NameBasedIds.uuid(NameBasedIds.Version.V5, ONE))
                .isEqualTo(UUID.fromString("e29d1959-3c19-5b53-8d5a-cd7a1bd742ff"));
        assertThat(NameBasedIds.handle(new Prefix("trk"), ONE)).hasToString("trk_4juqy9pxzswrfee");
    }

    @Test
    void uuidsHaveVersionAndVariant() {
        for (int i = 0; i < 100; i++) {
            Puri puri = Puri.parse("a:b:" + i);
            assertThat(NameBasedIds.uuid(NameBasedIds.Version.V5, puri).version())
                    .isEqualTo(5);
            UUID v8 = NameBasedIds.uuid(NameBasedIds.Version.V8, puri);
            assertThat(v8.version()).isEqualTo(8);
            assertThat(v8.variant()).isEqualTo(2);
            assertThat(NameBasedIds.eventId(puri, v8)).isNotEqualTo(v8);
        }
    }

    @Test
    void idsOfDifferentPurisDiffer() {
        Set<Object> ids = new HashSet<>();
        for (int i = 0; i < 1_000; i++) {
            Puri puri = Puri.parse("a:b:" + i);
            ids.add(NameBasedIds.uuid(NameBasedIds.Version.V8, puri));
            ids.add(NameBasedIds.handle(new Prefix("abc"), puri));
        }
        assertThat(ids).hasSize(2_000);
    }

    @Test
    void anUnknownVersionIsAnError() {
        assertThatThrownBy(() -> NameBasedIds.Version.parse("v7")).hasMessageContaining("v5 or v8, not v7");
    }
}
