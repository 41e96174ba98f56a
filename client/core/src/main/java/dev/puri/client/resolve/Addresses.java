package dev.puri.client.resolve;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Orders the addresses of resolvers for each look-up. Addresses that work keep the order of the options, so a client
 * uses one resolver as long as that resolver works. An address that failed is last until its back-off is over. The
 * back-off doubles with each failure. After the back-off, one look-up tries the address first. Other look-ups use it
 * first again only after it has answered, or after a back-off of the same length without an answer. So an address that
 * hangs delays only one look-up per back-off.
 */
final class Addresses {
    static final Duration MIN_BACKOFF = Duration.ofMillis(500);
    static final Duration MAX_BACKOFF = Duration.ofSeconds(30);

    private final List<Address> addresses;
    private final LongSupplier nanoClock;

    /** Base URL of a resolver, and its back-off. */
    final class Address {
        private final URI baseUrl;
        private long backoffNanos;

        /** Time at which the back-off began. */
        private long backoffBeganAt;

        /** Whether a look-up has tried this address first since the last failure. */
        private boolean isOnTrial;

        private Address(URI baseUrl) {
            this.baseUrl = baseUrl;
        }

        URI resolve(String path) {
            return URI.create(baseUrl + path);
        }

        synchronized void answered() {
            backoffNanos = 0;
            isOnTrial = false;
        }

        synchronized void failed() {
            long now = nanoClock.getAsLong();
            // Requests that fail together count as one failure.
            if (backoffNanos == 0 || isOnTrial || now - backoffBeganAt >= backoffNanos) {
                backoffNanos = Math.min(Math.max(2 * backoffNanos, MIN_BACKOFF.toNanos()), MAX_BACKOFF.toNanos());
                backoffBeganAt = now;
                isOnTrial = false;
            }
        }

        private synchronized boolean isBackedOff() {
            return backoffNanos > 0 && nanoClock.getAsLong() - backoffBeganAt < backoffNanos;
        }

        /**
         * Returns whether the caller may ask this address first. After a back-off, allows only one caller, and begins
         * a back-off of the same length for the other callers.
         */
        private synchronized boolean tryBecomeFirst() {
            if (isBackedOff()) {
                return false;
            }
            if (backoffNanos > 0) {
                backoffBeganAt = nanoClock.getAsLong();
                isOnTrial = true;
            }
            return true;
        }

        @Override
        public String toString() {
            return baseUrl.toString();
        }
    }

    Addresses(List<URI> baseUrls, LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
        this.addresses = baseUrls.stream().map(Address::new).toList();
    }

    /** Returns all addresses, with those in back-off at the end. The caller must ask the first address. */
    List<Address> inOrder() {
        List<Address> order = new ArrayList<>(addresses.size());
        List<Address> backedOff = new ArrayList<>();
        for (Address address : addresses) {
            boolean isUsable = order.isEmpty() ? address.tryBecomeFirst() : !address.isBackedOff();
            (isUsable ? order : backedOff).add(address);
        }
        order.addAll(backedOff);
        return order;
    }
}
