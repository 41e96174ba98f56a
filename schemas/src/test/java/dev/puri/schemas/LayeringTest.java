package dev.puri.schemas;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import org.junit.jupiter.api.Test;

/** Dependencies point downward only: collection → log → (avro, serde, identity). */
class LayeringTest {
    private static final String IDENTITY = "dev.puri.schemas.identity..";
    private static final String SERDE = "dev.puri.schemas.serde..";
    private static final String AVRO = "dev.puri.schemas.avro..";
    private static final String LOG = "dev.puri.schemas.log..";
    private static final String COLLECTION = "dev.puri.schemas.collection..";

    private static final JavaClasses CLASSES = importClasses();

    private static JavaClasses importClasses() {
        // Of the classes of other modules and libraries the rules need only the names, so their files are not read.
        ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
        return new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("dev.puri.schemas");
    }

    private static ArchRule only(String from, String... to) {
        return classes().that().resideInAPackage(from).should().onlyDependOnClassesThat(resideInAnyPackage(to));
    }

    @Test
    void coversAllPackages() {
        for (String part : new String[] {IDENTITY, SERDE, AVRO, LOG, COLLECTION}) {
            assertThat(CLASSES.that(resideInAnyPackage(part))).as(part).isNotEmpty();
        }
    }

    @Test
    void identityImportsOnlyJava() {
        only(IDENTITY, "java..", IDENTITY).check(CLASSES);
    }

    @Test
    void theSerdeDoesNotDependOnItsRecordTypes() {
        noClasses()
                .that()
                .resideInAnyPackage(SERDE, AVRO)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(IDENTITY, LOG, COLLECTION)
                .check(CLASSES);
    }

    @Test
    void theLogDoesNotDependOnCollections() {
        noClasses()
                .that()
                .resideInAPackage(LOG)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(COLLECTION)
                .check(CLASSES);
    }

    @Test
    void nothingHereDependsOnAnotherModule() {
        noClasses()
                .should()
                .dependOnClassesThat(resideInAnyPackage("dev.puri..")
                        .and(resideInAnyPackage(IDENTITY, SERDE, AVRO, LOG, COLLECTION)
                                .negate()))
                .check(CLASSES);
    }

    @Test
    void noCycles() {
        slices().matching("dev.puri.schemas.(*)..").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void aBrokenRuleFails() {
        assertThatThrownBy(() -> only(LOG, "java..", LOG).check(CLASSES))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("dev.puri.schemas.identity.Puri");
    }
}
