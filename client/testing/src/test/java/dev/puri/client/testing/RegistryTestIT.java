package dev.puri.client.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.client.Events;
import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.NewIdentity;
import dev.puri.client.PublishOutcome;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import java.io.BufferedReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
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
    void everyAddressIsOfItsServer(Registry registry) throws Exception {
        NewIdentity track = new Identities("music", "tracks", new Prefix("trk"), Identifiers.nanoid()).mint();
        try (IdentityPublisher publisher = new IdentityPublisher(registry.properties())) {
            Position token = publisher.publishSync(new Events("test")
                    .created(track, new Owner("catalog"), new Shard("eu-1"))
                    .build());
            assertThat(publisher.awaitSync(track.puri(), token, Duration.ofSeconds(60)))
                    .isEqualTo(new PublishOutcome.Accepted());
        }
        String handle = Objects.requireNonNull(track.handle()).text();

        assertThat(get(registry.schemaRegistryUrl() + "/subjects")).contains("puri.events.v1-value");
        assertThat(get(registry.resolverUrl() + "/v1/collections")).contains("\"music");
        assertThat(get(registry.resolverUrl() + "/v1/identities/" + handle)).contains("\"shard\"");
        assertThat(get(registry.publicUrl() + "/v1/identities/" + handle))
                .contains(handle)
                .doesNotContain("\"shard\"");
        assertThat(get(registry.searchUrl() + "/v1/search")).contains("\"results\"");
    }

    private static String get(String url) throws Exception {
        HttpResponse<String> response = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(url))
                                .timeout(Duration.ofSeconds(60))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).as(url).isEqualTo(200);
        return response.body();
    }

    @Test
    void theBuildUnpacksIntoItsOwnFolderAndNotTheUsers() {
        assertThat(StackFiles.cache(System.getenv(), Path.of(System.getProperty("user.home"))))
                .startsWith(Path.of("").toAbsolutePath());
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
    void theRegistryEndsAfterAJvmThatIsKilledAndItsDataIsDeletedLater() throws Exception {
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

            assertThat(folder).isDirectory();
            tests.destroyForcibly();

            stack.onExit().get(60, TimeUnit.SECONDS);
            for (ProcessHandle each : all) {
                each.onExit().get(60, TimeUnit.SECONDS);
            }
            DataFolders.deleteEnded(
                    folder.getParent(), Files.getOwner(folder), Instant.now().plusSeconds(600));
            assertThat(folder).doesNotExist();
        } finally {
            tests.destroyForcibly();
        }
    }

    @Test
    void dataOfARegistryIsKeptWhileItRunsAndDeletedWhenItIsClosed() throws Exception {
        StackProcess stack = TestsThatAreKilled.stack();
        DataFolders.deleteEnded(
                stack.folder().getParent(),
                Files.getOwner(stack.folder()),
                Instant.now().plusSeconds(600));
        assertThat(DataFolders.data(stack.folder()).resolve("kafka/puri.lock")).exists();

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
            StackFiles files = StackFiles.of(StackFiles.findDescription(), StackFiles.cache(System.getenv(), user));
            return StackProcess.start(
                    files, JavaHomes.commandOf(files.minJavaVersion(), JavaHomes.candidates(System.getenv(), user)));
        }
    }
}
