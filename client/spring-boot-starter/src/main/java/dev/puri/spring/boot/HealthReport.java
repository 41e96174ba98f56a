package dev.puri.spring.boot;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Health of one part, without Boot's types, whose packages differ between Boot 3 and 4.
 *
 * @param status code of Boot's status
 * @param details details for people; no value is null
 */
record HealthReport(String status, Map<String, Object> details) {
    static final String UP = "UP";
    static final String DOWN = "DOWN";

    /** Some pURIs need an operator, and all others go on. Boot ignores this status in the health of the application. */
    static final String BLOCKED = "BLOCKED";

    /** Combines the reports of parts by their names: the worst status, and the details of each. The report of a single part is returned as it is. */
    static HealthReport of(Map<String, HealthReport> parts) {
        if (parts.size() == 1) {
            return parts.values().iterator().next();
        }
        String worst = UP;
        Map<String, Object> details = new LinkedHashMap<>();
        for (Map.Entry<String, HealthReport> each : parts.entrySet()) {
            HealthReport part = each.getValue();
            worst = part.status.equals(DOWN) || worst.equals(UP) ? part.status : worst;
            Map<String, Object> ofPart = new LinkedHashMap<>();
            ofPart.put("status", part.status);
            ofPart.putAll(part.details);
            details.put(each.getKey(), ofPart);
        }
        return new HealthReport(worst, details);
    }
}
