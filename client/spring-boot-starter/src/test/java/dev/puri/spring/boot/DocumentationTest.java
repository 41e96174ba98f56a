package dev.puri.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** docs/spring-boot.md and the metadata for IDEs match the code. */
class DocumentationTest {
    private static final Path DOCUMENT = Path.of("..", "..", "docs", "spring-boot.md");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(puri\\.[a-z.-]+)` \\| ([^|]*) \\|");

    /** Names and defaults for IDEs. */
    private static Map<String, String> metadata() throws Exception {
        // Tests have settings of their own, whose metadata come first on the class path.
        try (InputStream file =
                Files.newInputStream(Path.of("target/classes/META-INF/spring-configuration-metadata.json"))) {
            Map<String, String> names = new TreeMap<>();
            for (JsonNode each : new ObjectMapper().readTree(file).get("properties")) {
                assertThat(each.path("description").asText())
                        .as(each.get("name").asText())
                        .isNotBlank();
                JsonNode value = each.path("defaultValue");
                names.put(each.get("name").asText(), value.isArray() ? "" : value.asText());
            }
            return names;
        }
    }

    @Test
    void idesKnowEverySetting() throws Exception {
        assertThat(metadata().keySet()).containsExactlyInAnyOrderElementsOf(SettingNames.all());
    }

    @Test
    void theTableHasEverySettingWithItsDefault() throws Exception {
        Map<String, String> rows = new TreeMap<>();
        String document = Files.readString(DOCUMENT);
        ROW.matcher(document.substring(document.indexOf("## Settings"), document.indexOf("## Health")))
                .results()
                .forEach(row -> rows.put(row.group(1), row.group(2).replace("`", "")));
        assertThat(rows).isEqualTo(metadata());
    }

    @Test
    void theExampleIsTheApplicationThatIsTested() throws Exception {
        List<String> code = blocks("java");
        String application = Files.readString(Path.of("src/test/java/com/example/music/MusicApplication.java"));
        assertThat(code).contains(application);
        assertThat(application.lines().count()).isLessThan(60);
        assertThat(blocks("yaml")).contains(Files.readString(Path.of("src/test/resources/application.yml")));
        assertThat(blocks("sql")).contains(Files.readString(Path.of("src/test/resources/schema.sql")));
    }

    @Test
    void theFeedIsTheOneThatIsTested() throws Exception {
        String configuration = Files.readString(Path.of("src/test/java/com/example/feed/FeedConfiguration.java"));
        assertThat(blocks("java")).contains(configuration.substring(configuration.indexOf("import ")));
        assertThat(blocks("yaml")).contains(Files.readString(Path.of("src/test/resources/application-debezium.yml")));
    }

    private static List<String> blocks(String language) throws Exception {
        List<String> blocks = new ArrayList<>();
        Pattern.compile("(?s)```" + language + "\n(.*?)```")
                .matcher(Files.readString(DOCUMENT))
                .results()
                .forEach(block -> blocks.add(block.group(1)));
        return blocks;
    }
}
