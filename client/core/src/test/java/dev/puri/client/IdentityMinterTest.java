package dev.puri.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Prefix;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class IdentityMinterTest {
    private static final Prefix TRACKS = new Prefix("trk");

    /** Compares as databases do; UUID.compareTo compares signed values. */
    private static final Comparator<UUID> UNSIGNED = Comparator.comparing(UUID::toString);

    @Test
    void aUuidIsOfVersionSevenAndOfNow() {
        Instant before = Instant.ofEpochMilli(System.currentTimeMillis());
        UUID uuid = new IdentityMinter().mint(null).uuid();
        assertThat(uuid.version()).isEqualTo(7);
        assertThat(uuid.variant()).isEqualTo(2);
        assertThat(Instant.ofEpochMilli(uuid.getMostSignificantBits() >>> 16))
                .isBetween(before, Instant.now().plusSeconds(60));
    }

    @Test
    void aHandleIsMintedOnlyForAPrefix() {
        IdentityMinter minter = new IdentityMinter();
        assertThat(minter.mint(null).handle()).isNull();
        Handle handle = Objects.requireNonNull(minter.mint(TRACKS).handle());
        assertThat(handle.prefix()).isEqualTo(TRACKS);
        assertThat(handle.text()).matches("trk_[1-9a-hjkmnp-z]{15}");
    }

    @Test
    void handlesUseTheWholeAlphabetEvenly() {
        IdentityMinter minter = IdentityMinter.of(Instant::now, new Random(42));
        int[] counts = new int[128];
        int handles = 20_000;
        for (int i = 0; i < handles; i++) {
            minter.handle(TRACKS).text().substring(4).chars().forEach(c -> counts[c]++);
        }
        double expected = handles * 15.0 / Handle.ALPHABET.length();
        for (char c : Handle.ALPHABET.toCharArray()) {
            assertThat(counts[c]).as("occurrences of %s", c).isBetween((int) (expected * 0.93), (int)
                    (expected * 1.07));
        }
    }

    @Test
    void uuidsRiseEvenWhenTheClockIsSetBack() {
        AtomicInteger call = new AtomicInteger();
        int[] millis = {1000, 1000, 1001, 400, 1001, 999, 1002, 0, 1003};
        IdentityMinter minter = IdentityMinter.of(
                () -> Instant.ofEpochMilli(millis[call.getAndIncrement() % millis.length]), new Random(7));
        List<UUID> minted = IntStream.range(0, 900).mapToObj(i -> minter.uuid()).toList();
        assertThat(minted).isSortedAccordingTo(UNSIGNED).doesNotHaveDuplicates();
    }

    @Test
    void uuidsRiseInEveryThreadAndAreNeverTwiceInTheProcess() throws Exception {
        int threads = 8;
        int each = 20_000;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Callable<List<UUID>>> tasks = Collections.nCopies(threads, () -> {
                // Each thread has its own minter; they share the process's order.
                IdentityMinter minter = new IdentityMinter();
                List<UUID> minted = new ArrayList<>(each);
                for (int i = 0; i < each; i++) {
                    minted.add(minter.uuid());
                }
                return minted;
            });
            Set<UUID> all = new HashSet<>();
            for (Future<List<UUID>> future : pool.invokeAll(tasks, 60, TimeUnit.SECONDS)) {
                assertThat(future.get()).isSortedAccordingTo(UNSIGNED);
                all.addAll(future.get());
            }
            assertThat(all).hasSize(threads * each);
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void theSameClockAndRandomnessMintTheSameIds() {
        IdentityMinter one = IdentityMinter.of(() -> Instant.EPOCH, new Random(1));
        IdentityMinter other = IdentityMinter.of(() -> Instant.EPOCH, new Random(1));
        assertThat(one.mint(TRACKS)).isEqualTo(other.mint(TRACKS));
    }
}
