package dev.puri.client;

import com.aventrix.jnanoid.jnanoid.NanoIdUtils;
import com.fasterxml.uuid.Generators;
import com.fasterxml.uuid.UUIDClock;
import com.fasterxml.uuid.impl.TimeBasedEpochGenerator;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Prefix;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Mints uuids and handles without I/O. Mint before you open a transaction and before you publish: a retry then uses the
 * same ids and is harmless. Thread-safe.
 *
 * <p>Every uuid is a UUIDv7 (RFC 9562 §5.7; method 2 of §6.2: within a millisecond the random part is incremented).
 * Compared as unsigned bytes, it is greater than every uuid that any minter of this process returned before, even if
 * the clock was set back.
 */
public final class IdentityMinter {
    private static final IncreasingUuids UUIDS_OF_PROCESS =
            new IncreasingUuids(new SecureRandom(), InstantSource.system());
    private static final char[] HANDLE_ALPHABET = Handle.ALPHABET.toCharArray();

    private final IncreasingUuids uuids;
    private final Random random;

    /** Creates a minter that uses the system clock and a secure random generator. */
    public IdentityMinter() {
        this(UUIDS_OF_PROCESS, new SecureRandom());
    }

    private IdentityMinter(IncreasingUuids uuids, Random random) {
        this.uuids = uuids;
        this.random = random;
    }

    /** Returns a minter with this clock and random generator, for tests that need the same ids in every run. */
    static IdentityMinter of(InstantSource clock, Random random) {
        return new IdentityMinter(new IncreasingUuids(random, clock), random);
    }

    /**
     * Uuid and handle of a new identity.
     *
     * @param handle null if the collection has no prefix
     */
    public record Minted(UUID uuid, @Nullable Handle handle) {}

    /**
     * Mints the uuid and the handle of a new identity.
     *
     * @param prefix the collection's prefix; null if the collection has none, and then there is no handle
     */
    public Minted mint(@Nullable Prefix prefix) {
        return new Minted(uuid(), prefix == null ? null : handle(prefix));
    }

    /** Returns a new UUIDv7, for a primary key or the id of an event. */
    public UUID uuid() {
        return uuids.next();
    }

    /** Returns a new handle. Each prefix has 2^75 handles, so a collision is improbable. */
    public Handle handle(Prefix prefix) {
        return Handle.of(prefix, NanoIdUtils.randomNanoId(random, HANDLE_ALPHABET, Handle.RANDOM_LENGTH));
    }

    /**
     * Mints increasing uuids. The generator alone does not guarantee the order: it reads its clock before it takes its
     * lock, and it draws a new random part whenever the millisecond differs, even if the new millisecond is earlier. So
     * this class has its own lock, and gives the generator a clock that never runs backwards.
     */
    private static final class IncreasingUuids {
        private final TimeBasedEpochGenerator generator;

        IncreasingUuids(Random random, InstantSource clock) {
            generator = Generators.timeBasedEpochGenerator(random, new UUIDClock() {
                private long latestMillis = Long.MIN_VALUE;

                @Override
                public long currentTimeMillis() {
                    latestMillis = Math.max(latestMillis, clock.millis());
                    return latestMillis;
                }
            });
        }

        synchronized UUID next() {
            return generator.generate();
        }
    }
}
