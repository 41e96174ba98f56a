package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class HeapTableTest {
    private static final Puri TRACK = Puri.parse("soundcloud:tracks:1");
    private static final Handle HANDLE = new Handle("trk_4k7vx9tz2nqr8w3");
    private static final Handle OTHER = new Handle("trk_4k7vx9tz2nqr8w4");

    private final HeapTable table = new HeapTable();

    @Test
    void aRowIsFoundByBothDoors() {
        table.put(TRACK, Rows.active("br-1", HANDLE.text()));

        assertThat(table.byPuri(TRACK)).isEqualTo(new Identity(TRACK, Rows.active("br-1", HANDLE.text())));
        assertThat(table.byHandle(HANDLE)).isEqualTo(table.byPuri(TRACK));
        assertThat(table.byHandle(OTHER)).isNull();
        assertThat(table.rows()).isEqualTo(1);
    }

    @Test
    void reCreationDropsTheFormerHandle() {
        table.put(TRACK, Rows.active("br-1", HANDLE.text()));
        table.put(TRACK, Rows.active("br-1", OTHER.text()));

        assertThat(table.byHandle(HANDLE)).isNull();
        assertThat(table.byHandle(OTHER)).isNotNull();

        table.put(TRACK, Rows.active("br-1"));

        assertThat(table.byHandle(OTHER)).isNull();
        assertThat(table.byPuri(TRACK)).isNotNull();
    }

    @Test
    void deletedAndMergedRowsKeepTheirHandle() {
        table.put(TRACK, Rows.active("br-1", HANDLE.text()));
        table.put(TRACK, Rows.deleted(HANDLE.text()));

        assertThat(table.byHandle(HANDLE)).isNotNull();
    }

    @Test
    void aTombstoneDropsBothDoors() {
        table.put(TRACK, Rows.active("br-1", HANDLE.text()));
        table.remove(TRACK);
        table.remove(TRACK);

        assertThat(table.byPuri(TRACK)).isNull();
        assertThat(table.byHandle(HANDLE)).isNull();
        assertThat(table.rows()).isZero();
    }

    @Test
    void aHandleIsNotLostWhenANameThatBoreItGoesAfterAnotherTookIt() {
        Puri another = Puri.parse("soundcloud:tracks:2");
        table.put(TRACK, Rows.active("br-1", HANDLE.text()));
        table.put(another, Rows.active("br-2", HANDLE.text()));
        table.remove(TRACK);

        assertThat(table.byHandle(HANDLE)).isEqualTo(new Identity(another, Rows.active("br-2", HANDLE.text())));
    }

    @Test
    void rowsAnswerAfterTheFeedingEnds() {
        table.put(TRACK, Rows.active("br-1"));
        table.close();

        assertThat(table.byPuri(TRACK)).isNotNull();
    }

    @Test
    void bothDoorsAgreeWithAModelThroughAnyHistory() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        Map<Puri, Row> model = new HashMap<>();
        List<Handle> everGranted = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            Puri puri = Puri.of("n", "c", Integer.toString(random.nextInt(50)));
            if (random.nextInt(5) == 0) {
                table.remove(puri);
                model.remove(puri);
            } else {
                // As the clerk grants them: a new one each time, or the one it has.
                Row before = model.get(puri);
                Handle handle = before != null && before.handle() != null && random.nextBoolean()
                        ? before.handle()
                        : granted(i);
                everGranted.add(handle);
                Row row = Rows.active("s" + random.nextInt(3), handle.text());
                table.put(puri, row);
                model.put(puri, row);
            }
        }
        assertThat(table.rows()).as("seed %d", seed).isEqualTo(model.size());
        for (Handle handle : everGranted) {
            Identity expected = model.entrySet().stream()
                    .filter(entry -> handle.equals(entry.getValue().handle()))
                    .map(entry -> new Identity(entry.getKey(), entry.getValue()))
                    .findAny()
                    .orElse(null);
            assertThat(table.byHandle(handle)).as("seed %d", seed).isEqualTo(expected);
        }
    }

    private static Handle granted(int number) {
        StringBuilder text = new StringBuilder("trk_");
        int rest = number;
        for (int i = 0; i < Handle.RANDOM_LENGTH; i++) {
            text.append(Handle.ALPHABET.charAt(rest % Handle.ALPHABET.length()));
            rest /= Handle.ALPHABET.length();
        }
        return new Handle(text.toString());
    }
}
