package dev.puri.settings;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a component of a settings record as a setting. The component's name determines the others: {@code
 * bootstrapServer} is {@code bootstrap.server} in a file, {@code PURI_BOOTSTRAP_SERVER} in the environment and {@code
 * --bootstrap-server} on a command line.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Setting {
    /** One sentence for the table of settings. */
    String doc();

    /**
     * The default. Without one, an {@link java.util.Optional} or a {@link java.util.List} is empty by default, and a
     * setting of any other type is mandatory.
     */
    String byDefault() default "";

    /** The smallest number or duration allowed; empty for no bound. */
    String atLeast() default "";

    /** The largest number or duration allowed; empty for no bound. */
    String atMost() default "";
}
