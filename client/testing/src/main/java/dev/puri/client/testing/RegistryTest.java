package dev.puri.client.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs the tests of a class against a whole {@link Registry}, which their methods and constructors take as a parameter. It is started
 * before the first such test of the JVM.
 *
 * <pre>{@code @RegistryTest(collections = "collections.yaml")
 * class TracksTest {
 *     void aTrackIsFound(Registry registry) { … }
 * }
 * }</pre>
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ExtendWith(RegistryExtension.class)
public @interface RegistryTest {
    /** Files on the class path, of the form of {@code puri collections apply}, that are declared before the tests of the class. */
    String[] collections() default {};
}
