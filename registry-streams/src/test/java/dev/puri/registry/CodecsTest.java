package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Every later release can read the contents of the registrar's stores. */
class CodecsTest {
    private static final UUID ID = UUID.fromString("0197f3a4-7c1e-7d2b-9a55-0123456789ab");
    private static final Registration REGISTRATION = new Registration(
            new Row(
                    ID,
                    new Owner("catalog"),
                    new Shard("br-1"),
                    Handle.parse("trk_4k7vx9tz2nqr8w3"),
                    Row.Status.ACTIVE,
                    3,
                    Instant.ofEpochMilli(1_000),
                    Instant.ofEpochMilli(2_000),
                    null,
                    new Position(Topics.EVENTS, 2, 7)),
            List.of(ID),
            List.of(new IdentityHash(1, 2)),
            false);

    /** The form before documents existed, which registrations without a document still have. */
    private static final String BEFORE_DOCUMENTS =
            "01010197f3a47c1e7d2b9a550123456789ab000100000000000000010000000000000002010197f3"
                    + "a47c1e7d2b9a550123456789ab000000000000000300000000000003e800000000000007d0000000"
                    + "000000000700000002000e707572692e6576656e74732e76310007636174616c6f67000462722d31"
                    + "001374726b5f346b37767839747a326e71723877330000";

    @Test
    void readsStoresWrittenBeforeDocuments() {
        byte[] stored = HexFormat.of().parseHex(BEFORE_DOCUMENTS);
        assertThat(RegistrationCodec.decode(stored)).isEqualTo(REGISTRATION);
        assertThat(RegistrationCodec.encode(REGISTRATION)).isEqualTo(stored);
    }

    @Test
    void registrationsRoundTripWithAndWithoutDocument() {
        for (Registration before : List.of(REGISTRATION, Registration.NONE)) {
            for (boolean hasDocument : new boolean[] {false, true}) {
                Registration registration = before.withDocument(hasDocument);
                assertThat(RegistrationCodec.decode(RegistrationCodec.encode(registration)))
                        .isEqualTo(registration);
            }
        }
    }

    @Test
    void attributesRoundTripAtTheirLimits() {
        Map<String, String> many = new HashMap<>();
        for (int i = 0; i < AttributeBounds.MAX_ATTRIBUTES; i++) {
            many.put("é" + i, i == 0 ? "" : "☃ " + i);
        }
        Map<String, String> large = Map.of("t", "x".repeat(AttributeBounds.MAX_BYTES - 1));
        for (Map<String, String> attributes : List.of(Map.<String, String>of(), many, large)) {
            assertThat(AttributesCodec.decode(AttributesCodec.encode(attributes)))
                    .isEqualTo(attributes);
        }
    }

    /** A value that is not read to its end was written by another program or is damaged. */
    @Test
    void valuesOfAnotherLengthAreRefused() {
        byte[] registration = RegistrationCodec.encode(REGISTRATION);
        byte[] attributes = AttributesCodec.encode(Map.of("title", "Blue"));
        for (int change : new int[] {-1, 1}) {
            assertThatThrownBy(
                            () -> RegistrationCodec.decode(Arrays.copyOf(registration, registration.length + change)))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> AttributesCodec.decode(Arrays.copyOf(attributes, attributes.length + change)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void storesOfALaterReleaseAreNotGuessedAt() {
        assertThatThrownBy(() -> RegistrationCodec.decode(new byte[] {3, 0, 0, 0, 0}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("version 3");
        assertThatThrownBy(() -> AttributesCodec.decode(new byte[] {2, 0}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("version 2");
    }
}
