package dev.puri.schemas.serde;

import org.apache.avro.specific.AvroGenerated;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.util.ClassSecurityValidator;
import org.apache.avro.util.ClassSecurityValidator.ClassSecurityPredicate;

/**
 * What Avro generated, and the leave to use it: from 1.12.2 on Avro makes no class that a schema names
 * unless it is trusted, and the only place to say so is global. Added to what is trusted already are
 * the classes that Avro generated, which hold data and do nothing.
 */
final class GeneratedClasses {
    static {
        ClassSecurityPredicate generated = type -> type.isAnnotationPresent(AvroGenerated.class);
        ClassSecurityValidator.setGlobal(
                ClassSecurityValidator.composite(ClassSecurityValidator.getGlobal(), generated));
    }

    private GeneratedClasses() {}

    /** Avro's model of a generated class, with its conversions. */
    static SpecificData modelOf(Class<?> type) {
        return SpecificData.getForClass(type);
    }
}
