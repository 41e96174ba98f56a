package dev.puri.resolver.answer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.http.JsonBody;
import dev.puri.resolver.table.AnyRows;
import dev.puri.resolver.table.LookUp;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.Verdict;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The response from packed bytes equals, byte by byte, the model's response from objects. */
final class InternalResultWriterTest {
    private static final long SEED = new Random().nextLong();

    /** More merges than a look-up follows. */
    private static final int CHAIN = LookUp.MAX_MERGES + 2;

    private final Random random = new Random(SEED);
    private final AnyRows any = new AnyRows(random);

    @Test
    void bytesAreThoseOfTheModel() {
        for (int round = 0; round < 40; round++) {
            PackedTable table = new PackedTable();
            List<String> refs = refs(fill(table));
            for (String ref : refs) {
                JsonOut out = new JsonOut();
                Verdict verdict = new InternalResultWriter(table, Declarations.none(), out, false).write(ref);

                Result model = Resolution.resolve(table, ref);
                assertThat(text(out) + '\n')
                        .as("seed %d", SEED)
                        .isEqualTo(byModel(json -> ResultJson.write(json, model)));
                assertThat(verdict).isEqualTo(model.verdict());
            }
            assertBatch(table, refs);
            table.release();
        }
    }

    private void assertBatch(PackedTable table, List<String> refs) {
        List<String> plain = refs.stream()
                .filter(ref -> ref.chars().allMatch(c -> c >= ' ' && c < 0x80 && c != '"' && c != '\\'))
                .toList();
        boolean byShard = random.nextBoolean();
        String body = "{" + space() + "\"refs\":" + space() + "[" + space()
                + String.join(
                        "," + space(),
                        plain.stream().map(ref -> '"' + ref + '"').toList()) + "]"
                + (byShard
                        ? "," + space() + "\"groupBy\" : \"shard\""
                        : random.nextBoolean() ? ",\"groupBy\":null" : "")
                + space() + "}" + space();
        PlainBatch batch = new PlainBatch();
        assertThat(batch.read(body.getBytes(StandardCharsets.US_ASCII), plain.size()))
                .isTrue();
        assertThat(batch.byShard()).isEqualTo(byShard);
        JsonOut out = new JsonOut();
        int[] verdicts = batch.write(new InternalResultWriter(table, Declarations.none(), out, byShard));

        List<Result> model =
                plain.stream().map(ref -> Resolution.resolve(table, ref)).toList();
        assertThat(text(out) + '\n')
                .as("seed %d", SEED)
                .isEqualTo(byModel(json -> ResultJson.writeBatch(json, model, byShard)));
        for (Verdict verdict : Verdict.values()) {
            assertThat(verdicts[verdict.ordinal()]).isEqualTo((int)
                    model.stream().filter(each -> each.verdict() == verdict).count());
        }
        assertThat(batch.read(body.getBytes(StandardCharsets.US_ASCII), plain.size() - 1))
                .isFalse();
    }

    private String space() {
        return " \n\t\r".substring(random.nextInt(5));
    }

    /** Rows that are merged into one another, in chains and cycles, and into missing names. */
    private List<Row> fill(PackedTable table) {
        List<Puri> names = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            names.add(any.puri());
        }
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < CHAIN; i++) {
            names.add(Puri.parse("chain:of:" + i));
        }
        for (int i = 0; i < CHAIN; i++) {
            // The last name is merged into any name, perhaps into itself.
            Puri into = names.get(i + 1 < CHAIN ? 30 + i + 1 : random.nextInt(names.size()));
            table.put(names.get(30 + i), into(any.row(null), Row.Status.MERGED, into));
        }
        for (Puri name : names.subList(0, 27)) {
            Row row = any.row(random.nextBoolean() ? null : any.handle());
            Puri into = names.get(random.nextInt(names.size()));
            Row put = row.mergedInto() == null ? row : into(row, row.status(), into);
            table.put(name, put);
            rows.add(put);
        }
        this.names = names;
        return rows;
    }

    private List<Puri> names = List.of();

    private static Row into(Row row, Row.Status status, Puri puri) {
        return new Row(
                row.uuid(),
                row.owner(),
                row.shard(),
                row.handle(),
                status,
                row.epoch(),
                row.createdAt(),
                row.changedAt(),
                puri,
                row.position());
    }

    private List<String> refs(List<Row> rows) {
        List<String> refs =
                new ArrayList<>(List.of("", ":", "::", "a:b", "a:b:", "a:b:c:d", "a::c", "é:b:c", "trk_", "a:b:%00"));
        for (Puri name : names) {
            refs.add(name.toString());
            refs.add(name.toString().toUpperCase(Locale.ROOT));
            refs.add(spoilt(name.toString()));
            refs.add(name.namespace() + ":%"
                    + Integer.toHexString(name.collection().charAt(0))
                    + name.collection().substring(1) + ':' + name.identifier());
        }
        rows.stream().map(Row::handle).filter(handle -> handle != null).forEach(handle -> {
            refs.add(String.valueOf(handle));
            refs.add(String.valueOf(handle).toUpperCase(Locale.ROOT));
            refs.add(spoilt(String.valueOf(handle)));
        });
        refs.add(any.handle().text());
        refs.add("a".repeat(63) + ':' + "b".repeat(63) + ':' + "c".repeat(255));
        refs.add("a".repeat(64) + ":b:c");
        refs.add("a:" + "b".repeat(64) + ":c");
        refs.add("a:b:" + "c".repeat(256));
        return refs;
    }

    /** With one character replaced, inserted or removed. */
    private String spoilt(String text) {
        StringBuilder spoilt = new StringBuilder(text);
        int at = random.nextInt(text.length());
        char other = random.nextInt(4) == 0 ? (char) random.nextInt(0x10000) : (char) random.nextInt(0x80);
        switch (random.nextInt(3)) {
            case 0 -> spoilt.setCharAt(at, other);
            case 1 -> spoilt.insert(at, other);
            default -> spoilt.deleteCharAt(at);
        }
        return spoilt.toString();
    }

    private static String byModel(JsonBody body) {
        return new String(JsonBody.bytes(body), StandardCharsets.UTF_8);
    }

    private static String text(JsonOut out) {
        return new String(out.bytes(), 0, out.length(), StandardCharsets.UTF_8);
    }
}
