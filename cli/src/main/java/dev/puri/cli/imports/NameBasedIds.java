package dev.puri.cli.imports;

import dev.puri.cli.io.Digests;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.UUID;

/**
 * Makes ids from names, so that a second run makes the same ids. {@code docs/import.md} says how others make the same
 * uuids.
 *
 * <p>The name is a purpose and the canonical pURI, because the uuid, the handle and the event id of an object must not
 * be related. The name of a uuid of version 5 is the pURI alone, as RFC 9562 has it; its hash is not related to the
 * others.
 */
final class NameBasedIds {
    /** The namespace of the uuids of version 5, a random uuid. */
    static final UUID NAMESPACE = UUID.fromString("29eda811-0deb-46eb-9b7d-d763b77d6f23");

    private static final int BITS_PER_LETTER = 5;

    private NameBasedIds() {}

    /** How a uuid is made from a name. */
    enum Version {
        /** SHA-1 of the namespace and the name, RFC 9562 section 5.5. */
        V5("SHA-1", 5),
        /** SHA-256 of purpose and name, RFC 9562 section 5.8. */
        V8("SHA-256", 8);

        private final ThreadLocal<MessageDigest> digests;
        private final int number;

        Version(String algorithm, int number) {
            // Creating a digest takes longer than computing one.
            this.digests = ThreadLocal.withInitial(() -> Digests.create(algorithm));
            this.number = number;
        }

        /** Returns the hash of a text in UTF-8. */
        ByteBuffer hash(String text) {
            return hash(text.getBytes(StandardCharsets.UTF_8));
        }

        private ByteBuffer hash(byte[] bytes) {
            return ByteBuffer.wrap(digests.get().digest(bytes));
        }

        static Version parse(String text) {
            return switch (text) {
                case "v5" -> V5;
                case "v8" -> V8;
                default -> throw new IllegalArgumentException("must be v5 or v8, not " + text);
            };
        }
    }

    /** Returns the uuid of an identity. */
    static UUID uuid(Version version, Puri puri) {
        return switch (version) {
            case V5 -> uuid(version, version.hash(nameInNamespace(puri)));
            case V8 -> hashed("uuid", puri.toString());
        };
    }

    /** Returns the id of the event that creates an identity. */
    static UUID eventId(Puri puri, UUID uuid) {
        return hashed("event", puri + " " + uuid);
    }

    /** Returns the id of the event that ends an identity, after the one that creates it. */
    static UUID endEventId(Puri puri, UUID uuid) {
        return hashed("end event", puri + " " + uuid);
    }

    private static byte[] nameInNamespace(Puri puri) {
        byte[] name = puri.toBytes();
        return ByteBuffer.allocate(2 * Long.BYTES + name.length)
                .putLong(NAMESPACE.getMostSignificantBits())
                .putLong(NAMESPACE.getLeastSignificantBits())
                .put(name)
                .array();
    }

    private static UUID hashed(String purpose, String name) {
        return uuid(Version.V8, hash(purpose, name));
    }

    private static UUID uuid(Version version, ByteBuffer hash) {
        long high = hash.getLong() & ~0xf000L | (long) version.number << 12;
        long low = hash.getLong() & ~(0b11L << 62) | 0b10L << 62;
        return new UUID(high, low);
    }

    /** Returns the handle of an identity: 75 bits of a SHA-256. */
    static Handle handle(Prefix prefix, Puri puri) {
        ByteBuffer hash = hash("handle", puri.toString());
        StringBuilder letters = new StringBuilder(Handle.RANDOM_LENGTH);
        long bits = 0;
        int bitCount = 0;
        while (letters.length() < Handle.RANDOM_LENGTH) {
            if (bitCount < BITS_PER_LETTER) {
                bits = bits << 8 | hash.get() & 0xff;
                bitCount += 8;
            }
            bitCount -= BITS_PER_LETTER;
            letters.append(Handle.ALPHABET.charAt((int) (bits >>> bitCount) & 31));
        }
        return Handle.of(prefix, letters.toString());
    }

    private static ByteBuffer hash(String purpose, String name) {
        return Version.V8.hash("puri import " + purpose + " " + name);
    }
}
