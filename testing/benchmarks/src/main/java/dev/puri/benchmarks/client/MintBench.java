package dev.puri.benchmarks.client;

import com.aventrix.jnanoid.jnanoid.NanoIdUtils;
import com.fasterxml.uuid.Generators;
import com.fasterxml.uuid.impl.TimeBasedEpochGenerator;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.benchmarks.report.Timing;
import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Prefix;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Measures minting by one thread, for each kind of identifier. The baseline calls the libraries that the client uses,
 * and returns the same three ids as plain values: uuid, pURI and handle.
 */
final class MintBench {
    private static final String LIBRARIES = "java-uuid-generator and jnanoid, the same ids as text";
    private static final String UNORDERED = LIBRARIES + ", unordered within a millisecond";

    private static final String NAMESPACE = "soundcloud";
    private static final String COLLECTION = "tracks";
    private static final Prefix PREFIX = new Prefix("trk");
    private static final char[] HANDLE_ALPHABET = Handle.ALPHABET.toCharArray();
    private static final char[] BASE_36 = Identifiers.BASE_36.toCharArray();

    /** Number of random characters in a sortable identifier, after the 9 characters of its time. */
    private static final int SORTABLE_RANDOM_LENGTH = 11;

    /** Number of prepared natural keys, which are used repeatedly. */
    private static final int KEYS = 1 << 16;

    private final ClientBench bench;
    private final Blackhole results = new Blackhole(
            "Today's password is swordfish. I understand instantiating Blackholes directly is dangerous.");
    private final TimeBasedEpochGenerator uuids = Generators.timeBasedEpochGenerator(new SecureRandom());
    private final SecureRandom handleRandom = new SecureRandom();
    private final SecureRandom identifierRandom = new SecureRandom();

    /** The ids that the baseline returns. */
    private record BareIds(UUID uuid, String puri, String handle) {}

    /**
     * A kind of identifier.
     *
     * @param ours mints the ids of the object with a number
     * @param theirs returns the baseline's ids of the object with a number
     */
    private record Strategy(String name, IntFunction<Object> ours, String baseline, IntFunction<Object> theirs) {
        String baselineSide() {
            return "bare " + name;
        }
    }

    MintBench(ClientBench bench) {
        this.bench = bench;
    }

    void measure() throws Exception {
        List<Strategy> strategies = strategies();
        Rounds rounds = bench.measureRounds(bench.rounds, "identities minted, 1/s", (round, recorder) -> {
            for (Strategy strategy : strategies) {
                Rounds.measureRotated(
                        round,
                        () -> recorder.record(strategy.name(), perSecond(strategy.ours())),
                        () -> recorder.record(strategy.baselineSide(), perSecond(strategy.theirs())));
            }
        });
        for (Strategy strategy : strategies) {
            String name = strategy.name();
            rounds.add("mint, " + name, "1/s", name, strategy.baseline(), strategy.baselineSide());
        }
    }

    private List<Strategy> strategies() {
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            keys.add(Long.toString(1_000_000_000L + i));
        }
        Identities identities = identities(Identifiers.uuid());
        return List.of(
                strategy("uuid", Identifiers.uuid(), LIBRARIES, UUID::toString),
                strategy(
                        "sortable",
                        Identifiers.sortable(),
                        UNORDERED,
                        uuid -> '0' + Long.toString(System.currentTimeMillis(), 36) + nanoid(SORTABLE_RANDOM_LENGTH)),
                strategy("nanoid", Identifiers.nanoid(), LIBRARIES, uuid -> nanoid(Identifiers.NANOID_LENGTH)),
                new Strategy(
                        "natural key",
                        number -> identities.mint(keys.get(number % KEYS)),
                        LIBRARIES,
                        number -> bareIds(uuids.generate(), keys.get(number % KEYS))));
    }

    private Strategy strategy(
            String name, Identifiers identifiers, String baseline, Function<UUID, String> bareIdentifier) {
        Identities ours = identities(identifiers);
        return new Strategy(name, number -> ours.mint(), baseline, number -> {
            UUID uuid = uuids.generate();
            return bareIds(uuid, bareIdentifier.apply(uuid));
        });
    }

    private static Identities identities(Identifiers identifiers) {
        return new Identities(NAMESPACE, COLLECTION, PREFIX, identifiers);
    }

    private String nanoid(int length) {
        return NanoIdUtils.randomNanoId(identifierRandom, BASE_36, length);
    }

    private BareIds bareIds(UUID uuid, String identifier) {
        String random = NanoIdUtils.randomNanoId(handleRandom, HANDLE_ALPHABET, Handle.RANDOM_LENGTH);
        return new BareIds(uuid, NAMESPACE + ':' + COLLECTION + ':' + identifier, PREFIX.text() + '_' + random);
    }

    private double perSecond(IntFunction<Object> mint) {
        int count = bench.minted;
        long startNanos = System.nanoTime();
        for (int number = 0; number < count; number++) {
            results.consume(mint.apply(number));
        }
        return count / Timing.seconds(startNanos);
    }
}
