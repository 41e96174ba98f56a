package dev.puri.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import org.junit.jupiter.api.Test;

class PuriCollectionTest {
    @Test
    void isKnownByItsCanonicalName() {
        PuriCollection cafes = PuriCollection.of("Music", "caf%c3%a9s", "CAF");
        assertThat(cafes).isEqualTo(new PuriCollection("music", "caf%C3%A9s", new Prefix("caf")));
        assertThat(cafes).hasToString("music:caf%C3%A9s");
        Puri puri = cafes.puri("a/b");
        assertThat(puri).hasToString("music:caf%C3%A9s:a%2Fb");
        assertThat(cafes.contains(puri)).isTrue();
        assertThat(cafes.contains(Puri.parse("music:users:1"))).isFalse();
        assertThat(cafes.identities(Identifiers.uuid()).mint("x").puri()).isEqualTo(cafes.puri("x"));
    }
}
