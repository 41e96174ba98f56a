package dev.puri.resolver.answer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.resolver.Rows;
import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class PublicResultWriterTest {
    private static final String ASKED = "trk_4k7vx9tz2nqr8w3";
    private static final String SURVIVOR = "trk_999999999999999";

    private final PackedTable table = new PackedTable();

    @Test
    void onlyPurisOfPublicCollectionsAreNamed() {
        put("open:tracks:1", ASKED, Row.Status.ACTIVE, null);
        assertThat(write(ASKED))
                .isEqualTo("{\"ref\":\"" + ASKED + "\",\"verdict\":\"found\",\"puri\":\"open:tracks:1\",\"handle\":\""
                        + ASKED + "\"}");

        put("closed:tracks:1", SURVIVOR, Row.Status.ACTIVE, null);
        assertThat(write("TRK_999999999999999"))
                .isEqualTo("{\"ref\":\"TRK_999999999999999\",\"verdict\":\"found\",\"handle\":\"" + SURVIVOR + "\"}");
    }

    @Test
    void aDeletedIdentityHasNoDetails() {
        put("closed:tracks:1", ASKED, Row.Status.DELETED, null);

        assertThat(write(ASKED))
                .isEqualTo("{\"ref\":\"" + ASKED + "\",\"verdict\":\"deleted\",\"handle\":\"" + ASKED + "\"}");
    }

    @Test
    void mergedNamesNoPrivateSurvivor() {
        put("open:tracks:1", ASKED, Row.Status.MERGED, "closed:tracks:2");
        put("closed:tracks:2", null, Row.Status.ACTIVE, null);
        String merged = "{\"ref\":\"" + ASKED + "\",\"verdict\":\"merged\",\"puri\":\"open:tracks:1\",\"handle\":\""
                + ASKED + "\"";
        assertThat(write(ASKED)).isEqualTo(merged + "}");

        put("closed:tracks:2", SURVIVOR, Row.Status.ACTIVE, null);
        assertThat(write(ASKED)).isEqualTo(merged + ",\"canonicalHandle\":\"" + SURVIVOR + "\"}");

        put("open:tracks:1", ASKED, Row.Status.MERGED, "open:tracks:2");
        put("open:tracks:2", null, Row.Status.ACTIVE, null);
        assertThat(write(ASKED)).isEqualTo(merged + ",\"canonical\":\"open:tracks:2\"}");
    }

    @Test
    void doesNotNameMissingSurvivors() {
        put("closed:tracks:1", ASKED, Row.Status.MERGED, "open:tracks:erased");
        String merged = "{\"ref\":\"" + ASKED + "\",\"verdict\":\"merged\",\"handle\":\"" + ASKED + "\"}";
        assertThat(write(ASKED)).isEqualTo(merged);

        put("open:tracks:erased", null, Row.Status.DELETED, null);
        assertThat(write(ASKED)).isEqualTo(merged.replace("merged", "deleted"));

        put("open:tracks:erased", null, Row.Status.MERGED, "closed:tracks:1");
        assertThat(write(ASKED)).isEqualTo(merged);
    }

    @Test
    void aPuriIsMalformedWhetherItIsKnownOrNot() {
        put("open:tracks:1", ASKED, Row.Status.ACTIVE, null);
        String malformed = write("open:tracks:1");

        assertThat(malformed).startsWith("{\"ref\":\"open:tracks:1\",\"verdict\":\"malformed\",\"detail\":\"a handle");
        for (String other : List.of("open:tracks:2", "no:such", "", "trk_4k7vx9tz2nqr8w0", "a:b:c d")) {
            assertThat(write(other)).isEqualTo(malformed.replace("open:tracks:1", other));
        }
    }

    @Test
    void anUnusedHandleIsUnknown() {
        assertThat(write(ASKED)).isEqualTo("{\"ref\":\"" + ASKED + "\",\"verdict\":\"unknown\"}");
    }

    private String write(String ref) {
        byte[] text = ref.getBytes(StandardCharsets.US_ASCII);
        JsonOut out = new JsonOut();
        answer(out).write(ref);
        JsonOut ofBytes = new JsonOut();
        answer(ofBytes).write(text, 0, text.length);
        String result = new String(out.bytes(), 0, out.length(), StandardCharsets.UTF_8);
        assertThat(new String(ofBytes.bytes(), 0, ofBytes.length(), StandardCharsets.UTF_8))
                .isEqualTo(result);
        return result;
    }

    private PublicResultWriter answer(JsonOut out) {
        return new PublicResultWriter(table, out, "open:tracks"::equals);
    }

    private void put(String puri, @Nullable String handle, Row.Status status, @Nullable String mergedInto) {
        table.put(
                Puri.parse(puri),
                new Row(
                        Rows.UUID_7,
                        new Owner("catalog"),
                        new Shard("br-1"),
                        handle == null ? null : new Handle(handle),
                        status,
                        3,
                        Rows.CREATED,
                        Rows.CHANGED,
                        mergedInto == null ? null : Puri.parse(mergedInto),
                        new Position("puri.events.v1", 3, 1042)));
    }
}
