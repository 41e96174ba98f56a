package dev.puri.client.testing;

import java.lang.reflect.AnnotatedElement;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * JUnit extension of {@link RegistryTest}: starts the registry, declares collections, and passes the {@link Registry}
 * to tests.
 */
public final class RegistryExtension implements BeforeAllCallback, ParameterResolver {
    /** Called by JUnit. */
    public RegistryExtension() {}

    @Override
    public void beforeAll(ExtensionContext context) {
        Registry registry = Registry.shared();
        AnnotatedElement testClass = context.getRequiredTestClass();
        AnnotationSupport.findAnnotation(testClass, RegistryTest.class).ifPresent(annotation -> {
            for (String file : annotation.collections()) {
                registry.declare(file);
            }
        });
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == Registry.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return Registry.shared();
    }
}
