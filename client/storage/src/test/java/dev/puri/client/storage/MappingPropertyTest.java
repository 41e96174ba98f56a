package dev.puri.client.storage;

import static dev.puri.client.storage.Property.forAll;
import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Text, name and column convert to each other without loss, and other values are refused, in both directions. */
class MappingPropertyTest {
    private static final int ROUNDS = 20_000;
    private static final PuriColumns USERS = PuriColumns.of("music", "users");

    private static <C> void mapsExactly(
            ColumnMapping<Puri, C> mapping, Predicate<String> fits, Function<Random, C> values) {
        forAll(ROUNDS, random -> {
            Puri puri = Names.puri(random);
            boolean isOf = puri.qualifiedCollection().equals("music:users") && fits.test(puri.identifier());
            if (isOf) {
                assertThat(mapping.load(mapping.store(puri))).isEqualTo(puri);
            } else {
                assertThat(refusal(mapping, puri)).startsWith(puri + " does not fit " + mapping + ": ");
            }
            C value = values.apply(random);
            try {
                assertThat(mapping.store(mapping.load(value))).isEqualTo(value);
            } catch (UnmappableNameException e) {
                assertThat(e).hasMessageStartingWith("the stored value ").hasMessageContaining(mapping.toString());
            }
        });
    }

    /** Returns the message of the refusal. */
    private static <C> String refusal(ColumnMapping<Puri, C> mapping, Puri puri) {
        try {
            return "stored as " + mapping.store(puri);
        } catch (UnmappableNameException e) {
            return e.getMessage();
        }
    }

    private static Predicate<String> matches(String regex) {
        return Pattern.compile(regex).asMatchPredicate();
    }

    private static boolean isLong(String digits, int radix) {
        return new BigInteger(digits, radix).bitLength() <= 63;
    }

    @Test
    void decimalIdentifiersAreLongs() {
        mapsExactly(
                USERS.asLong(),
                matches("0|[1-9][0-9]{0,30}").and(id -> isLong(id, 10)),
                random -> random.nextLong() >> random.nextInt(64));
    }

    @Test
    void identifiersOfOneWidthInBase36AreLongs() {
        for (int width : new int[] {1, 5, 12, 13}) {
            mapsExactly(
                    USERS.asSortableLong(width),
                    matches("[0-9a-z]{" + width + "}").and(id -> isLong(id, 36)),
                    random -> random.nextLong() >> random.nextInt(64));
        }
    }

    @Test
    void uuidsAreUuids() {
        Predicate<String> form = matches("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
        mapsExactly(USERS.asUuid(), form, Names::uuid);
        mapsExactly(USERS.asUuidBinary(), form, random -> bytes(random, 16));
    }

    @Test
    void allIdentifiersAreText() {
        Function<Random, String> values = random -> random.nextBoolean()
                ? Names.plain(random)
                : Puri.of("a", "b", Names.plain(random)).identifier();
        mapsExactly(USERS.asText(), id -> true, values);
        mapsExactly(USERS.asText(12), id -> id.length() <= 12, values);
    }

    @Test
    void anyPuriIsText() {
        ColumnMapping<Puri, String> any = PuriColumns.anyAsText();
        forAll(ROUNDS, random -> {
            Puri puri = Names.puri(random);
            assertThat(any.store(puri)).isEqualTo(puri.toString());
            assertThat(any.load(any.store(puri))).isEqualTo(puri);
        });
    }

    private static byte[] bytes(Random random, int usual) {
        byte[] bytes = new byte[random.nextInt(10) == 0 ? random.nextInt(20) : usual];
        random.nextBytes(bytes);
        if (random.nextBoolean() && bytes.length > 0) {
            bytes[bytes.length - 1] &= (byte) 0xE0;
            bytes[0] &= 0x1F;
        }
        return bytes;
    }

    @Test
    void handlesArePacked() {
        Prefix trk = new Prefix("trk");
        ColumnMapping<Handle, byte[]> tracks = HandleColumns.asBinary(trk);
        ColumnMapping<Handle, byte[]> any = HandleColumns.asBinary();
        forAll(ROUNDS, random -> {
            Handle track = Names.handle(random, trk);
            Handle handle = Names.handle(random);
            assertThat(tracks.load(tracks.store(track))).isEqualTo(track);
            assertThat(tracks.store(track)).hasSize(10);
            assertThat(any.load(any.store(handle))).isEqualTo(handle);
            assertThat(any.store(handle)).hasSize(12);
            assertThat(HandleColumns.asText().load(HandleColumns.asText().store(handle)))
                    .isEqualTo(handle);
            for (ColumnMapping<Handle, byte[]> mapping : Arrays.asList(tracks, any)) {
                byte[] value = bytes(random, mapping == any ? 12 : 10);
                try {
                    assertThat(mapping.store(mapping.load(value))).isEqualTo(value);
                } catch (UnmappableNameException e) {
                    assertThat(e).hasMessageContaining(mapping.toString());
                }
            }
        });
    }

    private static <N extends Comparable<N>, C> void keepsTheOrder(
            ColumnMapping<N, C> mapping, Comparator<C> order, Function<Random, N> names) {
        forAll(ROUNDS, random -> {
            N one = names.apply(random);
            N other = names.apply(random);
            assertThat(Integer.signum(order.compare(mapping.store(one), mapping.store(other))))
                    .as("%s and %s", one, other)
                    .isEqualTo(Integer.signum(one.compareTo(other)));
        });
    }

    @Test
    void columnsHaveTheOrderOfTheText() {
        keepsTheOrder(
                USERS.asSortableLong(12),
                Comparator.naturalOrder(),
                random -> Puri.parse(Names.USERS + Names.base36(random, 12)));
        keepsTheOrder(
                USERS.asUuidBinary(),
                Arrays::compareUnsigned,
                random -> Puri.parse(Names.USERS + new UUID(random.nextLong() >> 60, random.nextLong())));
        keepsTheOrder(HandleColumns.asBinary(), Arrays::compareUnsigned, Names::handle);
        keepsTheOrder(
                HandleColumns.asBinary(new Prefix("trk")),
                Arrays::compareUnsigned,
                random -> Names.handle(random, new Prefix("trk")));
    }
}
