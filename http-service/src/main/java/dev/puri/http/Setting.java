package dev.puri.http;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * One setting of a server: a component of its settings record. Its name gives all spellings, {@code
 * bootstrapServer} being {@code bootstrap.server} in a file, {@code PURI_BOOTSTRAP_SERVER} in the
 * environment and {@code --bootstrap-server} as a flag.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Setting {
    /** One sentence for the table of settings. */
    String doc();

    /**
     * What holds when nothing is said. Empty for none: an {@link java.util.Optional} or {@link
     * java.util.List} is then empty, and anything else must be given.
     */
    String byDefault() default "";

    /** The smallest number or duration allowed; empty for no bound. */
    String atLeast() default "";

    /** The largest number or duration allowed; empty for no bound. */
    String atMost() default "";
}
