package dev.puri.client.storage;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example of the package's documentation compiles unchanged, and runs. */
class PackageExampleTest {
    @TempDir
    private Path folder;

    private static String example() throws IOException {
        String text = Files.readString(Path.of("src/main/java/dev/puri/client/storage/package-info.java"));
        int from = text.indexOf("{@code\n") + "{@code\n".length();
        return text.substring(from, text.indexOf("}</pre>")).replaceAll("(?m)^ \\* ?", "");
    }

    @Test
    void theExampleRuns() throws Exception {
        Path source = Files.writeString(folder.resolve("Example.java"), """
                import dev.puri.client.storage.*;
                import dev.puri.schemas.identity.Puri;
                import java.sql.*;

                public final class Example {
                    public static void run(Connection connection) throws SQLException {
                %s
                    }
                }
                """.formatted(example()));
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        assertThat(ToolProvider.getSystemJavaCompiler()
                        .run(null, null, null, "-proc:none", "-cp", classPath, source.toString()))
                .isZero();
        try (URLClassLoader loader = new URLClassLoader(
                        new URL[] {folder.toUri().toURL()}, getClass().getClassLoader());
                Connection connection = DriverManager.getConnection("jdbc:h2:mem:")) {
            loader.loadClass("Example").getMethod("run", Connection.class).invoke(null, connection);
            try (Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery("select artist, source from songs")) {
                assertThat(rows.next()).isTrue();
                assertThat(rows.getLong(1)).isEqualTo(42);
                assertThat(rows.getString(2)).isEqualTo("soundcloud:tracks:4711");
            }
        }
    }
}
