package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Every relative link of the repository's Markdown leads to a file, and every anchor to a heading. */
class LinksTest {
    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
    private static final Set<String> NOT_OURS = Set.of("target", "node_modules", ".git");
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} (.*)$");

    /** The Markdown of the repository, without build results and installed packages. */
    private static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>();
        Files.walkFileTree(Page.ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                return NOT_OURS.contains(folder.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.toString().endsWith(".md")) {
                    pages.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return pages;
    }

    private static String prose(Path page) throws IOException {
        return Files.readString(page).replaceAll("(?ms)^```.*?^```$", "");
    }

    /** The anchor that GitHub gives a heading. */
    static String anchor(String heading) {
        return heading.replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1")
                .strip()
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N}_\\- ]", "")
                .replace(' ', '-');
    }

    private static List<String> anchors(Path page) throws IOException {
        return HEADING.matcher(prose(page))
                .results()
                .map(heading -> anchor(heading.group(1)))
                .toList();
    }

    private static List<String> links(Path page) throws IOException {
        return LINK.matcher(prose(page).replaceAll("`[^`\\n]*`", "`"))
                .results()
                .map(link -> link.group(1))
                .filter(link -> !link.contains("://"))
                .toList();
    }

    @Test
    void everyRelativeLinkAndAnchorResolves() throws IOException {
        List<String> broken = new ArrayList<>();
        int checked = 0;
        for (Path page : pages()) {
            for (String link : links(page)) {
                checked++;
                if (!resolves(page, link)) {
                    broken.add(page + ": " + link);
                }
            }
        }
        assertThat(broken).isEmpty();
        assertThat(checked).isGreaterThan(100);
    }

    private static boolean resolves(Path page, String link) throws IOException {
        int hash = link.indexOf('#');
        String file = hash < 0 ? link : link.substring(0, hash);
        Path target = file.isEmpty() ? page : page.resolveSibling(file);
        return Files.exists(target) && (hash < 0 || anchors(target).contains(link.substring(hash + 1)));
    }

    @Test
    void headingsGetTheAnchorsOfGitHub() {
        assertThat(anchor("4. Write a row and its event in one transaction"))
                .isEqualTo("4-write-a-row-and-its-event-in-one-transaction");
        assertThat(anchor("`puri up` and [the demo](cli.md)")).isEqualTo("puri-up-and-the-demo");
    }

    @Test
    void aLinkToNoFileOrNoHeadingIsFound() throws IOException {
        Path page = Page.ROOT.resolve("README.md");
        assertThat(resolves(page, "docs/no-such-page.md")).isFalse();
        assertThat(resolves(page, "docs/concepts.md#no-such-heading")).isFalse();
        assertThat(resolves(page, "docs/concepts.md#tokens")).isTrue();
    }

    @Test
    void theIndexNamesEveryPage() throws IOException {
        List<String> indexed = links(Page.ROOT.resolve("docs/README.md"));
        List<String> pages = Page.all().stream()
                .map(Page::file)
                .filter(file -> file.startsWith("docs/") && !file.equals("docs/README.md"))
                .map(file -> file.substring("docs/".length()))
                .toList();
        assertThat(pages).hasSizeGreaterThan(10);
        assertThat(indexed).containsAll(pages);
    }

    @Test
    void everyModuleIsInTheListOfFolders() throws IOException {
        List<String> modules = Pattern.compile("<module>([^<]+)</module>")
                .matcher(Files.readString(Page.ROOT.resolve("pom.xml")))
                .results()
                .map(module -> module.group(1))
                .toList();
        assertThat(modules).isNotEmpty();
        assertThat(links(Page.ROOT.resolve("CONTRIBUTING.md"))).containsAll(modules);
    }
}
