package dev.puri.schemas.serde;

import org.apache.avro.specific.AvroGenerated;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.util.ClassSecurityValidator;
import org.apache.avro.util.ClassSecurityValidator.ClassSecurityPredicate;

/**
 * What Avro generated, and the leave to use it: from 1.12.2 on Avro makes no class that a schema names
 * unless it is trusted, and the only place to say so is global. Added to what is trusted already are
 * the classes that Avro generated, which hold data and do nothing.
 *
 * <p>Whoever uses this package or the conversions of {@code dev.puri.schemas.log} has asked for the
 * leave by that. Confluent's deserializer alone does not: call {@link #trust()} first, or set the system
 * property {@code org.apache.avro.SERIALIZABLE_PACKAGES=dev.puri.schemas.avro}.
 */
public final class GeneratedClasses {
    static {
        ClassSecurityPredicate generated = type -> type.isAnnotationPresent(AvroGenerated.class);
        ClassSecurityValidator.setGlobal(
                ClassSecurityValidator.composite(ClassSecurityValidator.getGlobal(), generated));
    }

    private GeneratedClasses() {}

    /** Lets Avro use classes that it generated; once and for all in this JVM. */
    public static void trust() {
        // Loading this class did it.
    }

    /** Avro's model of a generated class, with its conversions. */
    static SpecificData modelOf(Class<?> type) {
        return SpecificData.getForClass(type);
    }
}
