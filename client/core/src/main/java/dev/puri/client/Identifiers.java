package dev.puri.client;

import com.aventrix.jnanoid.jnanoid.NanoIdUtils;
import java.security.SecureRandom;
import java.util.UUID;

/**
 * A strategy that creates the third segment of new pURIs. Implementations are thread-safe.
 *
 * <p>A pURI is internal, but the logs, topics and databases of many services contain it. Choose a strategy by the
 * information that the identifier may reveal to these services:
 *
 * <table>
 * <caption>Strategies: revealed information and probability of a collision</caption>
 * <tr><th>strategy</th><th>reveals</th><th>collision</th></tr>
 * <tr><td>{@link #uuid()}</td><td>the time of creation in milliseconds, but not how many were created</td>
 *     <td>2<sup>74</sup> random values in each millisecond</td></tr>
 * <tr><td>{@link #sortable()}</td><td>the time of creation in milliseconds, but not how many were created</td>
 *     <td>see {@link SortableIdentifiers}</td></tr>
 * <tr><td>{@link #nanoid()}</td><td>nothing</td>
 *     <td>n identifiers of length l: about n<sup>2</sup> / (2 · 36<sup>l</sup>)</td></tr>
 * <tr><td>a natural key, {@link Identities#mint(String)}</td><td>the key itself</td>
 *     <td>that of two equal keys</td></tr>
 * </table>
 *
 * <p>No strategy asks the registry. On a collision the registry refuses the second creation as {@code PURI_TAKEN}.
 */
@FunctionalInterface
public interface Identifiers {
    /** Digits and small letters, in ascending order of their codes. pURIs ignore the case of letters. */
    String BASE_36 = "0123456789abcdefghijklmnopqrstuvwxyz";

    /** For a billion identifiers with this length, the probability of a collision is about 1 : 16 million. */
    int NANOID_LENGTH = 16;

    /**
     * Returns the identifier of a new identity.
     *
     * @param uuid the identity's primary key
     * @return 1 to 255 characters that {@link dev.puri.schemas.identity.Puri#of} accepts
     */
    String next(UUID uuid);

    /** Identifiers that are the identity's uuid as text. A service then stores only one id. */
    static Identifiers uuid() {
        return UUID::toString;
    }

    /** Short identifiers in the order of creation: 9 characters for the time and 11 random characters, in base 36. */
    static Identifiers sortable() {
        return new SortableIdentifiers(SortableIdentifiers.TIME_LENGTH, SortableIdentifiers.RANDOM_LENGTH, BASE_36);
    }

    /**
     * Identifiers like those of {@link #sortable()}, with other lengths and another alphabet. With fewer than
     * 2<sup>21</sup> random values, two identifiers of one millisecond reveal how many were created between them.
     *
     * @param timeLength number of characters of the time part
     * @param randomLength number of characters of the random part
     * @param alphabet characters in ascending order of their codes
     * @throws IllegalArgumentException if the time does not fit until 2100, the random part has fewer than 2^20 or more
     *     than 2^62 values, or the alphabet is not sorted or has characters that pURIs convert to lower case or escape
     */
    static Identifiers sortable(int timeLength, int randomLength, String alphabet) {
        return new SortableIdentifiers(timeLength, randomLength, alphabet);
    }

    /** Identifiers of {@value #NANOID_LENGTH} random characters in base 36. */
    static Identifiers nanoid() {
        return nanoid(NANOID_LENGTH, BASE_36);
    }

    /**
     * Identifiers of random characters. Each character of the alphabet has the same probability.
     *
     * @param length number of characters, 1 to 255
     * @throws IllegalArgumentException if the length is out of bounds, or the alphabet has characters that pURIs
     *     convert to lower case or escape
     */
    static Identifiers nanoid(int length, String alphabet) {
        Alphabets.require(alphabet);
        if (length < 1 || length > Alphabets.MAX_LENGTH) {
            throw new IllegalArgumentException(
                    "the length of an identifier must be 1 to " + Alphabets.MAX_LENGTH + " characters, not " + length);
        }
        char[] characters = alphabet.toCharArray();
        SecureRandom random = new SecureRandom();
        return uuid -> NanoIdUtils.randomNanoId(random, characters, length);
    }
}
