package dev.puri.client.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs the tests of a class against a complete {@link Registry}. Test methods and constructors may have the registry as
 * a parameter. The registry starts before the first test class with this annotation in the JVM.
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
    /**
     * Files of declarations on the class path, in the format of {@code puri collections apply}. They are declared
     * before the tests of the class.
     */
    String[] collections() default {};
}
