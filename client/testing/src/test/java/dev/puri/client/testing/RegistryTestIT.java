package dev.puri.client.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.identity.Prefix;
import java.io.BufferedReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The annotation, with the registry as a process. */
@RegistryTest(collections = "collections.yaml")
@Timeout(300)
class RegistryTestIT {
    @Test
    void allTestsOfAJvmShareOneRegistryAlsoWithoutTheExtension(Registry registry) {
        assertThat(registry).isSameAs(Registry.shared());
    }

    @Test
    void everyAddressAnswers(Registry registry) throws Exception {
        for (String url : List.of(
                registry.schemaRegistryUrl() + "/subjects",
                registry.resolverUrl() + "/v1/collections",
                registry.publicUrl() + "/v1/identities/trk_111111111111111",
                registry.searchUrl() + "/v1/search")) {
            int status = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create(url))
                                    .timeout(Duration.ofSeconds(60))
                                    .build(),
                            HttpResponse.BodyHandlers.discarding())
                    .statusCode();
            assertThat(status).as(url).isIn(200, 404);
        }
    }

    @Test
    void aConflictingDeclarationNamesTheConflict(Registry registry) {
        Collection rival = new Collection("rival", "tracks", new Prefix("trk"), Set.of(), false, false, "", false);
        assertThatThrownBy(() -> registry.declare(List.of(rival)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("trk belongs to music:tracks");
    }

    /** The contract that the fake keeps. */
    @Nested
    class Publishing extends RunningRegistryContract {
        @Override
        Registry registry() {
            return Registry.shared();
        }
    }

    @Test
    void theRegistryEndsWithAJvmThatIsKilled() throws Exception {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        Process tests = new ProcessBuilder(
                        java.toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        TestsThatAreKilled.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader out = tests.inputReader()) {
            long pid = Long.parseLong(out.readLine());
            Path folder = Path.of(out.readLine());
            ProcessHandle stack = ProcessHandle.of(pid).orElseThrow();
            List<ProcessHandle> all = stack.descendants().toList();
            assertThat(all).as("the schema registry").isNotEmpty();

            tests.destroyForcibly();

            stack.onExit().get(60, TimeUnit.SECONDS);
            for (ProcessHandle each : all) {
                each.onExit().get(60, TimeUnit.SECONDS);
            }
            assertThat(Files.isDirectory(folder)).isTrue();
            Folders.delete(folder);
        } finally {
            tests.destroyForcibly();
        }
    }

    @Test
    void theRegistryAndItsDataEndWithTheTests() throws Exception {
        StackProcess stack = TestsThatAreKilled.stack();
        ProcessHandle process = ProcessHandle.of(stack.pid()).orElseThrow();
        stack.close();
        assertThat(process.isAlive()).isFalse();
        assertThat(stack.folder()).doesNotExist();
    }

    /** A JVM of tests that says which registry it started, and waits. */
    static final class TestsThatAreKilled {
        public static void main(String[] args) throws Exception {
            StackProcess stack = stack();
            System.out.println(stack.pid());
            System.out.println(stack.folder());
            System.out.flush();
            Thread.currentThread().join();
        }

        static StackProcess stack() {
            Path user = Path.of(System.getProperty("user.home"));
            StackFiles files = StackFiles.of(StackFiles.onClassPath(), StackFiles.cache(System.getenv(), user));
            return StackProcess.start(files, JavaHomes.commandOf(files.java(), JavaHomes.usual(System.getenv(), user)));
        }
    }
}
