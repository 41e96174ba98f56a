package dev.puri.spring.boot;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The result of a health check. Does not use Spring Boot's types, because their packages differ between Spring Boot 3
 * and 4.
 *
 * @param status code of a status in Spring Boot
 * @param details information for people; no value is null
 */
record HealthReport(String status, Map<String, Object> details) {
    static final String UP = "UP";
    static final String DOWN = "DOWN";

    /**
     * Some pURIs are blocked until an operator acts; all others are published. Spring Boot ignores this status in the
     * application's health.
     */
    static final String BLOCKED = "BLOCKED";

    /**
     * Combines reports by their names: the worst status, and the status and details of each report. Returns a single
     * report unchanged.
     */
    static HealthReport of(Map<String, HealthReport> reports) {
        if (reports.size() == 1) {
            return reports.values().iterator().next();
        }
        String worst = UP;
        Map<String, Object> details = new LinkedHashMap<>();
        for (Map.Entry<String, HealthReport> entry : reports.entrySet()) {
            HealthReport report = entry.getValue();
            worst = report.status.equals(DOWN) || worst.equals(UP) ? report.status : worst;
            Map<String, Object> reportDetails = new LinkedHashMap<>();
            reportDetails.put("status", report.status);
            reportDetails.putAll(report.details);
            details.put(entry.getKey(), reportDetails);
        }
        return new HealthReport(worst, details);
    }
}
