package dev.puri.client.storage;

import dev.puri.client.Identifiers;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import java.math.BigInteger;
import java.util.Random;
import java.util.UUID;

/** Random names, those at the edge of a mapping often. */
final class Names {
    static final String USERS = "music:users:";
    private static final String RAW = "abcxyz0189-._~!$&'()*+,;=@";
    private static final String[] ODD = {":", "%", "/", " ", "ä", "\u212a", "😀", "\u00a0", "?", "#", "\\", "\""};
    private static final BigInteger MAX = BigInteger.valueOf(Long.MAX_VALUE);

    private Names() {}

    static String of(Random random, String alphabet, int length) {
        char[] text = new char[length];
        for (int i = 0; i < length; i++) {
            text[i] = alphabet.charAt(random.nextInt(alphabet.length()));
        }
        return new String(text);
    }

    /** Plain text of up to 21 characters, or much longer. */
    static String plain(Random random) {
        int length = 1 + random.nextInt(random.nextInt(10) == 0 ? 240 : 20);
        StringBuilder text = new StringBuilder(of(random, RAW, length));
        if (length < 20 && random.nextBoolean()) {
            text.insert(random.nextInt(length), ODD[random.nextInt(ODD.length)]);
        }
        return text.toString();
    }

    /** A number near the greatest long, or of a few digits. */
    static String decimal(Random random) {
        return random.nextInt(3) == 0
                ? MAX.add(BigInteger.valueOf(random.nextInt(5) - 3)).toString()
                : Long.toString(random.nextLong() >>> (1 + random.nextInt(63)));
    }

    static String base36(Random random, int width) {
        return width == 13 && random.nextInt(3) == 0
                ? MAX.add(BigInteger.valueOf(random.nextInt(5) - 3)).toString(36)
                : of(random, Identifiers.BASE_36, width);
    }

    static UUID uuid(Random random) {
        return new UUID(random.nextLong(), random.nextLong());
    }

    /** An identifier that is of one of the kinds, or nearly. */
    static String identifier(Random random) {
        return switch (random.nextInt(8)) {
            case 0, 1 -> decimal(random);
            case 2 -> "0" + decimal(random);
            case 3 -> base36(random, 1 + random.nextInt(14));
            case 4 -> base36(random, 13);
            case 5 -> uuid(random).toString();
            case 6 -> uuid(random).toString().replace('-', random.nextBoolean() ? '0' : '_');
            default -> plain(random);
        };
    }

    static Puri puri(Random random) {
        return random.nextInt(20) == 0
                ? Puri.of(of(random, RAW, 3), of(random, RAW, 3), plain(random))
                : Puri.of("music", "users", identifier(random));
    }

    static Handle handle(Random random) {
        return handle(random, new Prefix(of(random, "abcdefghijklmnopqrstuvwxyz", 3)));
    }

    static Handle handle(Random random, Prefix prefix) {
        return Handle.of(prefix, of(random, Handle.ALPHABET, Handle.RANDOM_LENGTH));
    }
}
