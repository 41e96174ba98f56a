package dev.puri.client;

import com.aventrix.jnanoid.jnanoid.NanoIdUtils;
import java.security.SecureRandom;
import java.util.UUID;

/**
 * A strategy that makes the third segment of new pURIs. Implementations are thread-safe.
 *
 * <p>A pURI is internal, but it travels through logs, topics and databases of many services. Choose by what it may
 * reveal to them:
 *
 * <table>
 * <caption>What an identifier reveals, and how likely collisions are</caption>
 * <tr><th>strategy</th><th>reveals</th><th>collision</th></tr>
 * <tr><td>{@link #uuid()}</td><td>the time of creation, to the millisecond; no count</td>
 *     <td>2<sup>74</sup> random values in each millisecond</td></tr>
 * <tr><td>{@link #sortable()}</td><td>the time of creation, to the millisecond; no count</td>
 *     <td>see {@link SortableIdentifiers}</td></tr>
 * <tr><td>{@link #nanoid()}</td><td>nothing</td>
 *     <td>n identifiers of length l: about n<sup>2</sup> / (2 · 36<sup>l</sup>)</td></tr>
 * <tr><td>a natural key, {@link Identities#mint(String)}</td><td>whatever the key reveals</td>
 *     <td>as the key; the registry refuses the second</td></tr>
 * </table>
 *
 * <p>None asks the registry. On a collision the registry refuses the second creation as {@code PURI_TAKEN}.
 */
@FunctionalInterface
public interface Identifiers {
    /** Digits and small letters, in the order of their codes. pURIs do not tell capital letters from small ones. */
    String BASE_36 = "0123456789abcdefghijklmnopqrstuvwxyz";

    /** Among a billion identifiers of this length, a collision has a probability of 1 : 10 million. */
    int NANOID_LENGTH = 16;

    /**
     * Makes the identifier of a new identity.
     *
     * @param uuid its primary key
     * @return 1 to 255 characters as {@link dev.puri.schemas.identity.Puri#of} takes them
     */
    String next(UUID uuid);

    /** The identity's own uuid as text, so that there is only one id to store. */
    static Identifiers uuid() {
        return UUID::toString;
    }

    /** Short and in the order of creation: 9 characters of time and 11 random ones in base 36. */
    static Identifiers sortable() {
        return new SortableIdentifiers(SortableIdentifiers.TIME_LENGTH, SortableIdentifiers.RANDOM_LENGTH, BASE_36);
    }

    /**
     * As {@link #sortable()}, with other lengths and another alphabet.
     *
     * @throws IllegalArgumentException if the time does not fit until 2100, the random part has under 2^20 or over 2^62 values, or
     *     the alphabet is not in order or has characters that pURIs fold or escape
     */
    static Identifiers sortable(int timeLength, int randomLength, String alphabet) {
        return new SortableIdentifiers(timeLength, randomLength, alphabet);
    }

    /** {@value #NANOID_LENGTH} random characters of base 36. */
    static Identifiers nanoid() {
        return nanoid(NANOID_LENGTH, BASE_36);
    }

    /**
     * Random characters, each as likely as any other.
     *
     * @param length 1 to 255
     * @throws IllegalArgumentException if the length is out of bounds, or the alphabet has characters that pURIs fold or escape
     */
    static Identifiers nanoid(int length, String alphabet) {
        Alphabets.require(alphabet);
        if (length < 1 || length > Alphabets.MAX_LENGTH) {
            throw new IllegalArgumentException(
                    "an identifier has 1 to " + Alphabets.MAX_LENGTH + " characters, not " + length);
        }
        char[] characters = alphabet.toCharArray();
        SecureRandom random = new SecureRandom();
        return uuid -> NanoIdUtils.randomNanoId(random, characters, length);
    }
}
