package dev.puri.spring.boot;

import java.util.Map;

/**
 * The monitors of the application's relays.
 *
 * @param byRelay monitors by the bean name of the relay
 */
record RelayMonitors(Map<String, RelayMonitor> byRelay) {
    RelayMonitors {
        byRelay = Map.copyOf(byRelay);
    }
}
