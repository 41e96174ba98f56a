package dev.puri.schemas.serde;

import org.apache.avro.specific.AvroGenerated;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.util.ClassSecurityValidator;
import org.apache.avro.util.ClassSecurityValidator.ClassSecurityPredicate;

/**
 * Makes Avro trust generated classes. From 1.12.2 on Avro does not instantiate classes that a schema names unless they
 * are trusted, which is configured globally. This class adds all classes that Avro generated to the trusted ones; they
 * only contain data.
 *
 * <p>This package and the conversions of {@code dev.puri.schemas.log} do this automatically. With Confluent's
 * deserializer, call {@link #trust()} first, or set the system property {@code
 * org.apache.avro.SERIALIZABLE_PACKAGES=dev.puri.schemas.avro}.
 */
public final class GeneratedClasses {
    static {
        ClassSecurityPredicate generated = type -> type.isAnnotationPresent(AvroGenerated.class);
        ClassSecurityValidator.setGlobal(
                ClassSecurityValidator.composite(ClassSecurityValidator.getGlobal(), generated));
    }

    private GeneratedClasses() {}

    /** Makes Avro trust generated classes in this JVM. */
    public static void trust() {
        // The static initializer does the work.
    }

    /** Returns Avro's data model of a generated class, with its conversions. */
    static SpecificData modelOf(Class<?> type) {
        return SpecificData.getForClass(type);
    }
}
