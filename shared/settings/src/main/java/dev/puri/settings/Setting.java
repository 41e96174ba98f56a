package dev.puri.settings;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a component of a settings record as a setting. The names of the setting are derived from the component's name:
 * {@code bootstrapServer} is {@code bootstrap.server} in a file, {@code PURI_BOOTSTRAP_SERVER} in the environment and
 * {@code --bootstrap-server} on a command line.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Setting {
    /** Describes the setting in one or more sentences, for documentation and help texts. */
    String doc();

    /**
     * The default value. Without a default value, an {@link java.util.Optional} or a {@link java.util.List} is empty if
     * the setting is absent, and a setting of any other type is mandatory.
     */
    String byDefault() default "";

    /** The smallest valid number or duration; empty for no bound. */
    String atLeast() default "";

    /** The largest valid number or duration; empty for no bound. */
    String atMost() default "";
}
