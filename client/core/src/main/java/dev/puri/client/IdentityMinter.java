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
 * Mints the ids of an identity without I/O, before the transaction that uses them opens and before anything is published. Retries
 * use the same ids and are harmless. Thread-safe.
 *
 * <p>Every uuid is a UUIDv7 (RFC 9562 §5.7, method 1 of §6.2: the random part counts on within a
 * millisecond) and greater, as unsigned bytes, than every uuid that this process minted before, even
 * when the clock is set back.
 */
public final class IdentityMinter {
    private static final Uuids PROCESS = new Uuids(new SecureRandom(), InstantSource.system());
    private static final char[] ALPHABET = Handle.ALPHABET.toCharArray();

    private final Uuids uuids;
    private final Random random;

    /** Mints by the system's clock and its secure randomness. */
    public IdentityMinter() {
        this(PROCESS, new SecureRandom());
    }

    private IdentityMinter(Uuids uuids, Random random) {
        this.uuids = uuids;
        this.random = random;
    }

    /** Mints by this clock and this randomness, for tests that need the same ids every time. */
    static IdentityMinter of(InstantSource clock, Random random) {
        return new IdentityMinter(new Uuids(random, clock), random);
    }

    /**
     * The ids of one new identity.
     *
     * @param handle null when the collection has no prefix
     */
    public record Minted(UUID uuid, @Nullable Handle handle) {}

    /**
     * Mints the ids of a new identity.
     *
     * @param prefix its collection's; null mints no handle
     */
    public Minted mint(@Nullable Prefix prefix) {
        return new Minted(uuid(), prefix == null ? null : handle(prefix));
    }

    /** A new UUIDv7: a primary key, or an event's id. */
    public UUID uuid() {
        return uuids.next();
    }

    /** A new handle. Each prefix has 2^75, so a collision is not to be expected. */
    public Handle handle(Prefix prefix) {
        return Handle.of(prefix, NanoIdUtils.randomNanoId(random, ALPHABET, Handle.RANDOM_LENGTH));
    }

    /**
     * The generator reads its clock before it takes its lock, and draws a new random part whenever the millisecond differs, even
     * when it is an earlier one. Both would break the order; hence the lock, and the clock that never runs back.
     */
    private static final class Uuids {
        private final TimeBasedEpochGenerator generator;

        Uuids(Random random, InstantSource clock) {
            generator = Generators.timeBasedEpochGenerator(random, new UUIDClock() {
                private long latest = Long.MIN_VALUE;

                @Override
                public long currentTimeMillis() {
                    latest = Math.max(latest, clock.millis());
                    return latest;
                }
            });
        }

        synchronized UUID next() {
            return generator.generate();
        }
    }
}
