package dev.puri.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Lets Spring Boot print all mistakes in the properties {@code puri.*} instead of a stack trace. It runs before Spring
 * Boot's own analyzer, which would print only the first mistake.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class InvalidPuriPropertiesFailureAnalyzer extends AbstractFailureAnalyzer<InvalidPuriPropertiesException> {
    @Override
    protected FailureAnalysis analyze(Throwable root, InvalidPuriPropertiesException cause) {
        return new FailureAnalysis(cause.getMessage(), "Correct these settings.", cause);
    }
}
