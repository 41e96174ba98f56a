package dev.puri.client.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.projection.ResourceStack;
import dev.puri.resolver.feed.TableKeeper;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** An embedded resolver never runs the garbage collector of the application: it would pause all of it. */
final class NoCollectorTest {
    private static final Set<String> OWNERS = Set.of("java/lang/System", "java/lang/Runtime");

    @Test
    void noClassInsideTheApplicationNamesTheCollector() throws Exception {
        List<String> callers = new ArrayList<>();
        int classes = 0;
        for (Class<?> each : List.of(EmbeddedResolver.class, TableKeeper.class, ResourceStack.class)) {
            URI place = each.getProtectionDomain().getCodeSource().getLocation().toURI();
            Path path = Path.of(place);
            if (Files.isDirectory(path)) {
                classes += scan(path, callers);
            } else {
                try (FileSystem jar = FileSystems.newFileSystem(path, Map.of())) {
                    classes += scan(jar.getPath("/"), callers);
                }
            }
        }
        assertThat(classes).isGreaterThan(50);
        assertThat(callers).isEmpty();
    }

    private static int scan(Path root, List<String> callers) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(root)) {
            files = all.filter(each -> each.toString().endsWith(".class")).toList();
        }
        for (Path file : files) {
            // A method reference is in the constant pool too.
            ClassFile.of().parse(Files.readAllBytes(file)).constantPool().forEach(entry -> {
                if (entry instanceof MemberRefEntry member
                        && member.name().equalsString("gc")
                        && OWNERS.contains(member.owner().asInternalName())) {
                    callers.add(file.toString());
                }
            });
        }
        return files.size();
    }
}
