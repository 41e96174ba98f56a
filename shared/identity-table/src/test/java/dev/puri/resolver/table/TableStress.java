package dev.puri.resolver.table;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import java.time.Instant;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * The guarantees to readers of the table while its one thread writes. {@link TableJcstressIT} runs jcstress on them.
 *
 * <p>Within one index, a second look-up never finds an older row than the first, and a row that is changed but never
 * removed is always found. Between the indexes, a put changes the index of handles first, and a removal changes the
 * index of names first. So a reader that has found an identity by its name finds it by its handle, with the same row or
 * a newer row, unless the identity was removed or its handle changed meanwhile. A reader that does not find an identity
 * by its handle any more does not find it by its name either. The reverse is not guaranteed: for a moment the name may
 * still lead to the previous row.
 *
 * <p>All subjects of a JVM share one table, so that each subject reuses the memory that earlier subjects freed. The
 * subjects are created between the rounds, by one thread after the other, while no actor runs. So there is one writer
 * at any time.
 */
final class TableStress {
    /** More than twice the subjects of a round, which must not meet. */
    private static final int NUMBERS = 1 << 12;

    private static final PackedTable TABLE = new PackedTable();
    private static int next;

    private TableStress() {}

    /** A name and a handle that are unique in this round, and another name for which memory is freed. */
    abstract static class Subject {
        final int number;
        final Puri name;
        final Handle handle;
        final Puri otherName;
        final Handle otherHandle;

        Subject(boolean isThere) {
            synchronized (TABLE) {
                number = next++ % NUMBERS;
                name = name(number);
                handle = handle(number);
                otherName = name(number + NUMBERS);
                otherHandle = handle(number + NUMBERS);
                TABLE.remove(otherName);
                if (isThere) {
                    TABLE.put(name, row(number, 0));
                } else {
                    TABLE.remove(name);
                }
            }
        }

        final void put(int version) {
            TABLE.put(name, row(number, version));
        }

        final void remove() {
            TABLE.remove(name);
        }

        final void putOther(int version) {
            TABLE.put(otherName, row(number + NUMBERS, version));
        }

        final Object byName() {
            return seen(() -> TABLE.byPuri(name), number);
        }

        final Object byHandle() {
            return seen(() -> TABLE.byHandle(handle), number);
        }

        final Object otherByName() {
            return seen(() -> TABLE.byPuri(otherName), number + NUMBERS);
        }

        final Object otherByHandle() {
            return seen(() -> TABLE.byHandle(otherHandle), number + NUMBERS);
        }
    }

    /** A row that changes twice; the third version reuses the memory of the first. */
    abstract static class Changing extends Subject {
        Changing() {
            super(true);
        }

        final void change() {
            put(1);
            put(2);
        }
    }

    @JCStressTest
    @Outcome(
            id = {"0, 0", "0, 1", "0, 2", "1, 1", "1, 2", "2, 2"},
            expect = ACCEPTABLE,
            desc = "one row or another, never back")
    @Outcome(expect = FORBIDDEN, desc = "a mixture, a row that was there before, or none")
    @State
    public static class ChangeByName extends Changing {
        @Actor
        public void write() {
            change();
        }

        @Actor
        public void read(LL_Result seen) {
            seen.r1 = byName();
            seen.r2 = byName();
        }
    }

    @JCStressTest
    @Outcome(
            id = {"0, 0", "0, 1", "0, 2", "1, 1", "1, 2", "2, 2"},
            expect = ACCEPTABLE,
            desc = "one row or another, never back")
    @Outcome(expect = FORBIDDEN, desc = "a mixture, a row that was there before, or none")
    @State
    public static class ChangeByHandle extends Changing {
        @Actor
        public void write() {
            change();
        }

        @Actor
        public void read(LL_Result seen) {
            seen.r1 = byHandle();
            seen.r2 = byHandle();
        }
    }

    /** A row is removed, and another of its size reuses its memory. */
    abstract static class Replaced extends Subject {
        Replaced() {
            super(true);
        }

        final void replace() {
            remove();
            putOther(1);
        }
    }

    @JCStressTest
    @Outcome(
            id = {"0, none", "0, 1", "none, none", "none, 1"},
            expect = ACCEPTABLE,
            desc = "each is what it was, or not there")
    @Outcome(expect = FORBIDDEN, desc = "a mixture, or the other's row")
    @State
    public static class MemoryTakenByName extends Replaced {
        @Actor
        public void write() {
            replace();
        }

        @Actor
        public void read(LL_Result seen) {
            seen.r1 = byName();
            seen.r2 = otherByName();
        }
    }

    @JCStressTest
    @Outcome(
            id = {"0, none", "0, 1", "none, none", "none, 1"},
            expect = ACCEPTABLE,
            desc = "each is what it was, or not there")
    @Outcome(expect = FORBIDDEN, desc = "a mixture, or the other's row")
    @State
    public static class MemoryTakenByHandle extends Replaced {
        @Actor
        public void write() {
            replace();
        }

        @Actor
        public void read(LL_Result seen) {
            seen.r1 = byHandle();
            seen.r2 = otherByHandle();
        }
    }

    @JCStressTest
    @Outcome(
            id = {"0, 0", "0, 1", "1, 1"},
            expect = ACCEPTABLE,
            desc = "the handle leads to what the name leads to, or to newer")
    @Outcome(id = "1, 0", expect = FORBIDDEN, desc = "the handle is behind the name")
    @Outcome(expect = FORBIDDEN, desc = "a mixture, or none")
    @State
    public static class ChangeByNameThenHandle extends Subject {
        public ChangeByNameThenHandle() {
            super(true);
        }

        @Actor
        public void write() {
            put(1);
        }

        @Actor
        public void read(LL_Result seen) {
            seen.r1 = byName();
            seen.r2 = byHandle();
        }
    }

    @JCStressTest
    @Outcome(
            id = {"0, 0", "0, 1", "1, 1"},
            expect = ACCEPTABLE,
            desc = "the name leads to what the handle leads to, or to newer")
    @Outcome(id = "1, 0", expect = ACCEPTABLE_INTERESTING, desc = "the name is turned after the handle")
    @Outcome(expect = FORBIDDEN, desc = "a mixture, or none")
    @State
    public static class ChangeByHandleThenName extends Subject {
        public ChangeByHandleThenName() {
            super(true);
        }

        @Actor
        public void write() {
            put(1);
        }

        @Actor
        public void read(LL_Result seen) {
            seen.r1 = byHandle();
            seen.r2 = byName();
        }
    }

    @JCStressTest
    @Outcome(
            id = {"none, none", "none, 1", "1, 1"},
            expect = ACCEPTABLE,
            desc = "once the name leads to it, the handle does")
    @Outcome(id = "1, none", expect = FORBIDDEN, desc = "the handle is behind the name")
    @Outcome(expect = FORBIDDEN, desc = "a mixture")
    @State
    public static class CreationByNameThenHandle extends Subject {
        public CreationByNameThenHandle() {
            super(false);
        }

        @Actor
        public void write() {
            put(1);
        }

        @Actor
        public void read(LL_Result seen) {
            seen.r1 = byName();
            seen.r2 = byHandle();
        }
    }

    @JCStressTest
    @Outcome(
            id = {"0, 0", "0, none", "none, none"},
            expect = ACCEPTABLE,
            desc = "once the handle leads nowhere, the name does not either")
    @Outcome(id = "none, 0", expect = FORBIDDEN, desc = "the name leads to a row that is gone")
    @Outcome(expect = FORBIDDEN, desc = "a mixture")
    @State
    public static class RemovalByHandleThenName extends Subject {
        public RemovalByHandleThenName() {
            super(true);
        }

        @Actor
        public void write() {
            remove();
        }

        @Actor
        public void read(LL_Result seen) {
            seen.r1 = byHandle();
            seen.r2 = byName();
        }
    }

    /** The version of the row that was seen, if it is whole and of that number. */
    private static Object seen(Supplier<@Nullable Identity> look, int number) {
        Identity identity;
        try {
            identity = look.get();
        } catch (RuntimeException e) {
            // Reported as an outcome, so that the other outcomes are counted too.
            return e.toString();
        }
        if (identity == null) {
            return "none";
        }
        long version = identity.row().position().offset();
        return identity.puri().equals(name(number)) && identity.row().equals(row(number, (int) version))
                ? version
                : "mixture";
    }

    private static Puri name(int number) {
        return Puri.of("n", "c", "x" + (100_000 + number));
    }

    /**
     * Every part but the handle depends on the version; rows of versions below 7 have one size. No other row has this
     * owner and this shard, so their words are removed with it, and their numbers are reused at once.
     */
    private static Row row(int number, int version) {
        long all = version * 0x1111_1111_1111_1111L;
        return new Row(
                new UUID(all, all),
                new Owner("o" + number + "." + version),
                new Shard("s" + number + "." + version),
                handle(number),
                version % 2 == 0 ? Row.Status.ACTIVE : Row.Status.DELETED,
                version + 1,
                Instant.ofEpochMilli(1_767_225_600_000L + version),
                Instant.ofEpochMilli(1_767_225_600_000L + 2L * version),
                null,
                new Position("puri.events.v1.n" + version, version, version));
    }

    private static Handle handle(int number) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < Handle.RANDOM_LENGTH; i++) {
            text.append(Handle.ALPHABET.charAt(number >>> Math.min(31, 5 * i) & 31));
        }
        return Handle.of(new Prefix("trk"), text.toString());
    }
}
