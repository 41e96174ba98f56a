package dev.puri.resolver.table;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import java.time.Instant;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Rows of every kind that the registry can write, and others, determined by a seed. */
public final class AnyRows {
    private static final String RAW = "abcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=@";
    private static final String PLACE = "ABCXYZabcxyz0189._~:/@+-";

    private final Random random;

    public AnyRows(Random random) {
        this.random = random;
    }

    public Identity identity() {
        return new Identity(puri(), row(random.nextInt(4) == 0 ? null : handle()));
    }

    public Puri puri() {
        return Puri.parse(few() + ':' + few() + ':' + identifier());
    }

    private String few() {
        return random.nextInt(100) == 0 ? text(RAW, 63) : "name" + random.nextInt(20);
    }

    private String identifier() {
        return switch (random.nextInt(9)) {
            case 0 -> Long.toString(random.nextLong() >>> random.nextInt(64));
            case 1 -> "0".repeat(random.nextInt(3)) + random.nextInt(1000);
            case 2 -> text("0123456789", 40);
            case 3 -> text("0123456789abcdef", 255);
            case 4 -> new UUID(random.nextLong(), random.nextLong()).toString();
            case 5 -> new UUID(random.nextLong(), random.nextLong()).toString().replace('-', 'a');
            case 6 -> new UUID(random.nextLong(), random.nextLong()).toString().toUpperCase(Locale.ROOT);
            case 7 -> "%C3%A9".repeat(1 + random.nextInt(42));
            default -> text(RAW, 255);
        };
    }

    private String text(String characters, int most) {
        StringBuilder text = new StringBuilder();
        for (int left = 1 + random.nextInt(most); left > 0; left--) {
            text.append(characters.charAt(random.nextInt(characters.length())));
        }
        return text.toString();
    }

    public Handle handle() {
        String prefix = random.nextInt(3) == 0 ? "" + letter() + letter() + letter() : "trk";
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < Handle.RANDOM_LENGTH; i++) {
            text.append(Handle.ALPHABET.charAt(random.nextInt(Handle.ALPHABET.length())));
        }
        return Handle.of(new Prefix(prefix), text.toString());
    }

    private char letter() {
        return (char) ('a' + random.nextInt(26));
    }

    public Row row(@Nullable Handle handle) {
        Row.Status status = Row.Status.values()[random.nextInt(3)];
        UUID uuid = uuid();
        Instant created = Instant.ofEpochMilli(anyLong());
        return new Row(
                uuid,
                new Owner(random.nextBoolean() ? "catalog" : text(PLACE, 63)),
                new Shard(random.nextBoolean() ? "br-1" : text(PLACE, 63)),
                handle,
                status,
                1 + (random.nextLong() >>> 1 + random.nextInt(62)),
                created,
                Instant.ofEpochMilli(random.nextBoolean() ? created.toEpochMilli() : anyLong()),
                status == Row.Status.MERGED ? puri() : null,
                new Position(
                        random.nextBoolean() ? "puri.events.v1" : "puri.events.v1.music" + random.nextInt(9),
                        random.nextInt() >>> 1 + random.nextInt(31),
                        random.nextLong() >>> 1 + random.nextInt(63)));
    }

    private UUID uuid() {
        long high = random.nextLong();
        return new UUID(random.nextBoolean() ? high & ~0xF000L | 0x7000 : high, random.nextLong());
    }

    /** Of any size, the largest among them. */
    private long anyLong() {
        return switch (random.nextInt(20)) {
            case 0 -> Long.MAX_VALUE;
            case 1 -> Long.MIN_VALUE;
            default -> random.nextLong() >> random.nextInt(64);
        };
    }
}
