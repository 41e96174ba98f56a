package dev.puri.client.resolve;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The order in which resolvers are asked. It is that of the options, so that a client stays with one resolver as long as that works. An
 * address that failed is asked last until its back-off is over, which doubles with each failure. Then one look-up asks it first, and the
 * others do so once it has answered: an address that hangs holds up one look-up alone.
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

        /** When the back-off began. */
        private long backedOffAt;

        /** Whether a look-up was allowed to ask it first since the last failure. */
        private boolean isTried;

        private Address(URI base) {
            this.base = base;
        }

        URI resolve(String path) {
            return URI.create(base + path);
        }

        synchronized void answered() {
            backoffNanos = 0;
            isTried = false;
        }

        synchronized void failed() {
            long now = nanoClock.getAsLong();
            // Requests that fail together count as one failure.
            if (backoffNanos == 0 || isTried || now - backedOffAt >= backoffNanos) {
                backoffNanos = Math.min(Math.max(2 * backoffNanos, FIRST_BACKOFF.toNanos()), LONGEST_BACKOFF.toNanos());
                backedOffAt = now;
                isTried = false;
            }
        }

        private synchronized boolean isBackedOff() {
            return backoffNanos > 0 && nanoClock.getAsLong() - backedOffAt < backoffNanos;
        }

        /**
         * Whether the caller may ask it first. After a back-off one caller may, and another one if there is no answer for as long
         * again.
         */
        private synchronized boolean takeFirstPlace() {
            if (isBackedOff()) {
                return false;
            }
            if (backoffNanos > 0) {
                backedOffAt = nanoClock.getAsLong();
                isTried = true;
            }
            return true;
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

    /** Returns all addresses, those in back-off last. The caller must ask the first. */
    List<Address> inOrder() {
        List<Address> order = new ArrayList<>(all.size());
        List<Address> last = new ArrayList<>();
        for (Address each : all) {
            boolean isGood = order.isEmpty() ? each.takeFirstPlace() : !each.isBackedOff();
            (isGood ? order : last).add(each);
        }
        order.addAll(last);
        return order;
    }
}
