package dev.puri.schemas.serde;

import org.apache.avro.specific.AvroGenerated;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.util.ClassSecurityValidator;
import org.apache.avro.util.ClassSecurityValidator.ClassSecurityPredicate;

/**
 * Makes Avro trust generated classes. Since 1.12.2 Avro instantiates a class that a schema names only if the class is
 * trusted. Trust is configured for the whole JVM. This class adds all classes that Avro generated to the trusted
 * classes; they only contain data.
 *
 * <p>This package and {@code dev.puri.schemas.log} call {@link #trust()} themselves. Before Confluent's deserializer is
 * used, call {@link #trust()}, or set the system property {@code
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

    /** Returns Avro's data model for a generated class, with the conversions of the class. */
    static SpecificData modelOf(Class<?> type) {
        return SpecificData.getForClass(type);
    }
}
