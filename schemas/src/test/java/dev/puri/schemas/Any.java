package dev.puri.schemas;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Random values of every kind, with many edge cases. */
public final class Any {
    private static final String[] ODD = {
        ":", "%", "/", " ", "ä", "Ä", "\u212a", "\u0131", "e\u0301", "😀", "\uffff", "\u00a0", "%41", "?", "#", "\\"
    };
    private static final String RAW = "abcxyzABCXYZ0189-._~!$&'()*+,;=@";
    private static final String PLACE = "abzABZ09._~:/@+-";
    private static final String TOPIC = "abz09._-";

    private Any() {}

    /** Well-formed text without control characters, of up to {@code most} bytes in canonical form. */
    public static String plain(Random random, int most) {
        int length = 1 + random.nextInt(random.nextInt(10) == 0 ? most : Math.min(most, 20));
        StringBuilder text = new StringBuilder();
        for (int bytes = 0; bytes < length; ) {
            if (random.nextInt(4) > 0 || length - bytes < 12) {
                text.append(RAW.charAt(random.nextInt(RAW.length())));
                bytes++;
            } else if (random.nextBoolean()) {
                text.append(ODD[random.nextInt(ODD.length)]);
                bytes += 12;
            } else {
                text.appendCodePoint(codePoint(random));
                bytes += 12;
            }
        }
        return text.toString();
    }

    private static int codePoint(Random random) {
        int[] ends = {0x80, 0x800, 0x10000, 0x110000};
        while (true) {
            int codePoint = random.nextInt(ends[random.nextInt(ends.length)]);
            if (!Character.isISOControl(codePoint) && Character.getType(codePoint) != Character.SURROGATE) {
                return codePoint;
            }
        }
    }

    public static Puri puri(Random random) {
        return Puri.of(
                plain(random, Puri.MAX_NAME_BYTES),
                plain(random, Puri.MAX_NAME_BYTES),
                plain(random, Puri.MAX_IDENTIFIER_BYTES));
    }

    private static String of(Random random, String alphabet, int length) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.append(alphabet.charAt(random.nextInt(alphabet.length())));
        }
        return text.toString();
    }

    public static Handle handle(Random random) {
        return Handle.of(
                new Prefix(of(random, "abcdefghijklmnopqrstuvwxyz", 3)),
                of(random, Handle.ALPHABET, Handle.RANDOM_LENGTH));
    }

    public static Owner owner(Random random) {
        return new Owner(of(random, PLACE, 1 + random.nextInt(63)));
    }

    public static Shard shard(Random random) {
        return new Shard(of(random, PLACE, 1 + random.nextInt(63)));
    }

    public static UUID uuid(Random random) {
        long version = 1 + random.nextInt(8);
        return new UUID(
                random.nextLong() & ~0xF000L | version << 12, random.nextLong() & 0x3FFFFFFFFFFFFFFFL | 1L << 63);
    }

    public static Instant instant(Random random) {
        long millis = Duration.between(Event.EARLIEST, Event.LATEST).toMillis();
        return Event.EARLIEST.plusMillis((long) (random.nextDouble() * millis));
    }

    public static Position position(Random random) {
        String topic =
                random.nextBoolean() ? Topics.EVENTS : Topics.eventsTopicOf(of(random, TOPIC, 1 + random.nextInt(63)));
        return new Position(topic, random.nextInt(Integer.MAX_VALUE), random.nextLong() & Long.MAX_VALUE);
    }

    public static Outcome outcome(Random random) {
        Reason[] reasons = Reason.values();
        int i = random.nextInt(reasons.length + 2) - 2;
        return i == -2 ? Outcome.APPLIED : i == -1 ? Outcome.UNCHANGED : Outcome.refused(reasons[i]);
    }

    public static Map<String, String> attributes(Random random) {
        Map<String, String> attributes = new HashMap<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            attributes.put(plain(random, 50), random.nextBoolean() ? "" : plain(random, 1000));
        }
        return attributes;
    }

    private static <T> @Nullable T orNull(Random random, Function<Random, T> kind) {
        return random.nextBoolean() ? null : kind.apply(random);
    }

    public static Change change(Random random) {
        return switch (random.nextInt(6)) {
            case 0 ->
                new Change.Created(
                        uuid(random), owner(random), shard(random), orNull(random, Any::handle), attributes(random));
            case 1 -> new Change.Moved(orNull(random, Any::owner), shard(random));
            case 2 -> new Change.Described(attributes(random));
            case 3 -> new Change.Merged(puri(random));
            case 4 -> new Change.Deleted();
            default -> new Change.Erased();
        };
    }

    public static Event event(Random random) {
        return new Event(
                uuid(random),
                puri(random),
                instant(random),
                plain(random, Event.MAX_SOURCE_LENGTH),
                orNull(random, Any::uuid),
                orNull(random, Random::nextLong),
                change(random));
    }

    public static Row row(Random random) {
        Row.Status status = Row.Status.values()[random.nextInt(3)];
        return new Row(
                uuid(random),
                owner(random),
                shard(random),
                orNull(random, Any::handle),
                status,
                1 + (random.nextLong() & Long.MAX_VALUE >> 1),
                instant(random),
                instant(random),
                status == Row.Status.MERGED ? puri(random) : null,
                position(random));
    }

    public static Document document(Random random) {
        Row row = row(random);
        return new Document(
                row.owner(),
                row.shard(),
                row.handle(),
                row.mergedInto() == null ? Row.Status.ACTIVE : Row.Status.MERGED,
                row.mergedInto(),
                attributes(random),
                row.position());
    }
}
