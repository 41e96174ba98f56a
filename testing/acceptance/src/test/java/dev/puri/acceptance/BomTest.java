package dev.puri.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/** The BOM contains exactly the modules that a service embeds. */
class BomTest {
    private static final Path ROOT = Path.of("..", "..");
    private static final String BOM = "client/bom";
    private static final XPath XPATH = XPathFactory.newInstance().newXPath();

    /** Artifacts of this repository that a module brings to the class path of a service. */
    private static final String TRANSITIVE = "/project/dependencies/dependency[groupId='dev.puri'"
            + " and (not(scope) or scope='compile' or scope='runtime') and not(optional='true')]/artifactId";

    private final Map<String, Document> poms = new TreeMap<>();
    private final Map<String, String> folders = new TreeMap<>();

    @BeforeEach
    void read() throws Exception {
        poms.put("", pom(""));
        for (String module : texts(poms.get(""), "/project/modules/module")) {
            poms.put(module, pom(module));
            folders.put(text(poms.get(module), "/project/artifactId"), module);
        }
    }

    private static Document pom(String module) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(ROOT.resolve(module).resolve("pom.xml").toFile());
    }

    private static String text(Document pom, String path) throws Exception {
        return XPATH.evaluate(path, pom);
    }

    private static List<String> texts(Document pom, String path) throws Exception {
        NodeList nodes = (NodeList) XPATH.evaluate(path, pom, XPathConstants.NODESET);
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < nodes.getLength(); i++) {
            texts.add(nodes.item(i).getTextContent());
        }
        return texts;
    }

    private List<String> managed() throws Exception {
        return texts(poms.get(BOM), "/project/dependencyManagement/dependencies/dependency/artifactId");
    }

    @Test
    void listsEachClientModuleWithAllThatItBringsAndNothingElse() throws Exception {
        TreeSet<String> embedded = new TreeSet<>();
        Deque<String> next = new ArrayDeque<>();
        for (Map.Entry<String, String> each : folders.entrySet()) {
            if (each.getValue().startsWith("client/") && !each.getValue().equals(BOM)) {
                next.add(each.getKey());
            }
        }
        while (!next.isEmpty()) {
            String artifact = next.remove();
            if (embedded.add(artifact)) {
                next.addAll(texts(poms.get(folders.get(artifact)), TRANSITIVE));
            }
        }
        assertThat(embedded).contains("schemas", "client", "identity-table", "projection");
        assertThat(managed()).containsExactlyInAnyOrderElementsOf(embedded);
    }

    @Test
    void eachOfThemWithJavaIsBuiltWithSourcesAndJavadoc() throws Exception {
        for (String artifact : managed()) {
            String folder = Objects.requireNonNull(folders.get(artifact), artifact);
            if (!Files.isDirectory(ROOT.resolve(folder).resolve("src/main/java"))) {
                continue;
            }
            Document pom = poms.get(folder);
            assertThat(texts(pom, "/project/properties/maven.source.skip"))
                    .as(artifact)
                    .containsExactly("false");
            assertThat(texts(pom, "/project/properties/maven.javadoc.skip"))
                    .as(artifact)
                    .containsExactly("false");
        }
    }

    @Test
    void eachOfThemIsInstalledAndDeployedWithItsParent() throws Exception {
        TreeSet<String> modules = new TreeSet<>(Set.of("", BOM));
        managed().forEach(artifact -> modules.add(Objects.requireNonNull(folders.get(artifact), artifact)));
        for (String module : modules) {
            assertThat(texts(poms.get(module), "//maven.install.skip | //maven.deploy.skip"))
                    .as(module)
                    .isEmpty();
        }
    }

    @Test
    void managesOurVersionAndThoseOfNobodyElse() throws Exception {
        Document bom = poms.get(BOM);
        assertThat(text(bom, "/project/version")).isEqualTo(text(poms.get(""), "/project/version"));
        assertThat(texts(bom, "/project/parent"))
                .as("a parent's managed versions would come with it")
                .isEmpty();
        assertThat(texts(bom, "//dependency/groupId")).containsOnly("dev.puri");
        assertThat(texts(bom, "//dependency/version")).containsOnly("${project.version}");
    }
}
