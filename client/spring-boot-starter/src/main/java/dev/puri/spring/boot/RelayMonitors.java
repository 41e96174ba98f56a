package dev.puri.spring.boot;

import java.util.Map;

/**
 * The application's relays.
 *
 * @param byRelay by the name of the relay's bean
 */
record RelayMonitors(Map<String, RelayMonitor> byRelay) {
    RelayMonitors {
        byRelay = Map.copyOf(byRelay);
    }
}
