package dev.puri.client.resolve;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Which resolver to ask first. Their order is that of the options, so that one client stays with one resolver while that
 * works. An address that failed is asked last until its back-off is over, which doubles from failure to failure.
 */
final class Addresses {
    static final Duration FIRST_BACKOFF = Duration.ofMillis(500);
    static final Duration LONGEST_BACKOFF = Duration.ofSeconds(30);

    private final List<Address> all;
    private final LongSupplier nanoClock;

    /** One resolver. */
    final class Address {
        private final URI base;
        private long backoffNanos;
        private long failedAt;

        private Address(URI base) {
            this.base = base;
        }

        URI resolve(String path) {
            return URI.create(base + path);
        }

        synchronized void answered() {
            backoffNanos = 0;
        }

        synchronized void failed() {
            long now = nanoClock.getAsLong();
            // Of many requests that fail together one counts.
            if (backoffNanos == 0 || now - failedAt >= backoffNanos) {
                backoffNanos = Math.min(Math.max(2 * backoffNanos, FIRST_BACKOFF.toNanos()), LONGEST_BACKOFF.toNanos());
                failedAt = now;
            }
        }

        private synchronized boolean isBackedOff() {
            return backoffNanos > 0 && nanoClock.getAsLong() - failedAt < backoffNanos;
        }

        @Override
        public String toString() {
            return base.toString();
        }
    }

    Addresses(List<URI> bases, LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
        this.all = bases.stream().map(Address::new).toList();
    }

    /** All, those first that did not fail lately. */
    List<Address> inOrder() {
        List<Address> order = new ArrayList<>(all.size());
        List<Address> last = new ArrayList<>();
        for (Address each : all) {
            (each.isBackedOff() ? last : order).add(each);
        }
        order.addAll(last);
        return order;
    }
}
