package dev.puri.resolver.answer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.resolver.Rows;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.Verdict;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import org.junit.jupiter.api.Test;

final class ResolutionTest {
    private static final String HANDLE = "trk_4k7vx9tz2nqr8w3";

    private final PackedTable table = new PackedTable();

    @Test
    void aPuriIsFoundInAnyCasingAndWithAnyEscapes() {
        put("soundcloud:tracks:1", Rows.active("br-1"));

        for (String ref : new String[] {"soundcloud:tracks:1", "SoundCloud:Tracks:1", "soundcloud:tracks:%31"}) {
            Result result = resolve(ref);
            assertThat(result.verdict()).isEqualTo(Verdict.FOUND);
            assertThat(result.ref()).isEqualTo(ref);
            assertThat(result.puri()).hasToString("soundcloud:tracks:1");
        }
    }

    @Test
    void aHandleIsFoundInAnyCasing() {
        put("soundcloud:tracks:1", Rows.active("br-1", HANDLE));

        Result result = resolve("TRK_4K7VX9TZ2NQR8W3");

        assertThat(result.verdict()).isEqualTo(Verdict.FOUND);
        assertThat(result.puri()).hasToString("soundcloud:tracks:1");
    }

    @Test
    void aMissingNameIsUnknown() {
        assertThat(resolve("Soundcloud:tracks:1"))
                .isEqualTo(Result.unknown("Soundcloud:tracks:1", Puri.parse("soundcloud:tracks:1")));
        assertThat(resolve(HANDLE)).isEqualTo(Result.unknown(HANDLE, null));
    }

    @Test
    void malformedReferencesHaveAReason() {
        assertThat(resolve("a:b").verdict()).isEqualTo(Verdict.MALFORMED);
        assertThat(resolve("a:b:c d").detail()).contains("position 5").contains("%20");
        assertThat(resolve("").verdict()).isEqualTo(Verdict.MALFORMED);
        assertThat(resolve("trk-4k7vx9tz2nqr8w3").detail()).contains("underscore");
    }

    @Test
    void aDeletedIdentityHasNoPlacement() {
        put("a:b:c", Rows.deleted(HANDLE));

        Result result = resolve(HANDLE);

        assertThat(result.verdict()).isEqualTo(Verdict.DELETED);
        assertThat(result.placement()).isNull();
        assertThat(result.row()).isNotNull();
        assertThat(result.puri()).hasToString("a:b:c");
    }

    @Test
    void aMergedIdentityHasItsSurvivorsPlacement() {
        put("a:b:1", Rows.mergedInto("a:b:2"));
        put("a:b:2", Rows.mergedInto("a:b:3"));
        put("a:b:3", Rows.active("br-3"));

        Result result = resolve("a:b:1");

        assertThat(result.verdict()).isEqualTo(Verdict.MERGED);
        assertThat(result.canonical()).hasToString("a:b:3");
        assertThat(result.placement()).isEqualTo(Rows.active("br-3"));
        assertThat(result.row()).isEqualTo(Rows.mergedInto("a:b:2"));
    }

    @Test
    void aSurvivorThatIsNotKnownIsNamedWithoutPlacement() {
        put("a:b:1", Rows.mergedInto("a:b:2"));

        Result result = resolve("a:b:1");

        assertThat(result.verdict()).isEqualTo(Verdict.MERGED);
        assertThat(result.canonical()).hasToString("a:b:2");
        assertThat(result.placement()).isNull();
        assertThat(result.detail()).contains("not known");
    }

    @Test
    void aDeletedSurvivorMakesItDeleted() {
        put("a:b:1", Rows.mergedInto("a:b:2"));
        put("a:b:2", Rows.deleted(null));

        Result result = resolve("a:b:1");

        assertThat(result.verdict()).isEqualTo(Verdict.DELETED);
        assertThat(result.canonical()).hasToString("a:b:2");
        assertThat(result.placement()).isNull();
    }

    @Test
    void aCycleOfMergesHasNoSurvivor() {
        put("a:b:1", Rows.mergedInto("a:b:2"));
        put("a:b:2", Rows.mergedInto("a:b:3"));
        put("a:b:3", Rows.mergedInto("a:b:2"));
        put("a:b:4", Rows.mergedInto("a:b:4"));

        for (String ref : new String[] {"a:b:1", "a:b:2", "a:b:3", "a:b:4"}) {
            Result result = resolve(ref);
            assertThat(result.verdict()).isEqualTo(Verdict.MERGED);
            assertThat(result.canonical()).isNull();
            assertThat(result.placement()).isNull();
            assertThat(result.detail()).contains("leads back to");
        }
    }

    @Test
    void eightMergesAreFollowedAndNotNine() {
        for (int i = 0; i < 9; i++) {
            put("a:b:" + i, Rows.mergedInto("a:b:" + (i + 1)));
        }
        put("a:b:9", Rows.active("br-9"));

        assertThat(resolve("a:b:1").canonical()).hasToString("a:b:9");
        assertThat(resolve("a:b:1").placement()).isNotNull();
        Result tooLong = resolve("a:b:0");
        assertThat(tooLong.verdict()).isEqualTo(Verdict.MERGED);
        assertThat(tooLong.canonical()).isNull();
        assertThat(tooLong.placement()).isNull();
        assertThat(tooLong.detail()).contains("longer than 8");
    }

    private Result resolve(String ref) {
        return Resolution.resolve(table, ref);
    }

    private void put(String puri, Row row) {
        table.put(Puri.parse(puri), row);
    }
}
