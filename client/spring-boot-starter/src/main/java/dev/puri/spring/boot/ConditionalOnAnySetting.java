package dev.puri.spring.boot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Conditional;

/**
 * Matches if at least one of these settings has a value. Unlike Spring Boot's own condition, also recognizes lists in
 * YAML.
 */
@Documented
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnSettingCondition.class)
@interface ConditionalOnAnySetting {
    /** Names of the settings in canonical form. */
    String[] value();
}
