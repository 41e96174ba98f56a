package dev.puri.client.resolve;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Test;

class AddressesTest {
    private static final List<URI> BASES = List.of(URI.create("http://a"), URI.create("http://b"));

    @Test
    void aFailedAddressComesLastUntilItsDoublingBackoffIsOver() {
        long[] now = {0};
        Addresses addresses = new Addresses(BASES, () -> now[0]);
        Addresses.Address preferred = addresses.inOrder().get(0);
        assertThat(preferred).hasToString("http://a");
        long backoff = Addresses.MIN_BACKOFF.toNanos();
        for (int i = 0; i < 10; i++) {
            preferred.failed();
            preferred.failed();
            now[0] += backoff - 1;
            assertThat(addresses.inOrder().get(1)).isSameAs(preferred);
            now[0]++;
            assertThat(addresses.inOrder().get(0)).isSameAs(preferred);
            backoff = Math.min(2 * backoff, Addresses.MAX_BACKOFF.toNanos());
        }
        preferred.failed();
        preferred.answered();
        assertThat(addresses.inOrder().get(0)).isSameAs(preferred);
    }

    /** An address that hangs would delay all look-ups for their share of the deadline. */
    @Test
    void afterItsBackoffOneLookUpTriesAnAddressBeforeTheOthersDo() {
        long[] now = {0};
        Addresses addresses = new Addresses(BASES, () -> now[0]);
        Addresses.Address preferred = addresses.inOrder().get(0);
        preferred.failed();
        now[0] += Addresses.MIN_BACKOFF.toNanos();
        assertThat(addresses.inOrder().get(0)).isSameAs(preferred);
        assertThat(addresses.inOrder().get(1)).isSameAs(preferred);
        preferred.failed();
        now[0] += 2 * Addresses.MIN_BACKOFF.toNanos() - 1;
        assertThat(addresses.inOrder().get(1)).isSameAs(preferred);
        now[0]++;
        assertThat(addresses.inOrder().get(0)).isSameAs(preferred);

        // An attempt that was cancelled because another address was faster proves nothing.
        now[0] += 2 * Addresses.MIN_BACKOFF.toNanos() - 1;
        assertThat(addresses.inOrder().get(1)).isSameAs(preferred);
        now[0]++;
        assertThat(addresses.inOrder().get(0)).isSameAs(preferred);

        preferred.answered();
        assertThat(addresses.inOrder().get(0)).isSameAs(preferred);
        assertThat(addresses.inOrder().get(0)).isSameAs(preferred);
    }
}
