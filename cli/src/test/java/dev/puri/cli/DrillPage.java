package dev.puri.cli;

import java.util.List;
import java.util.regex.Pattern;

/** The sections of {@code docs/disasters.md}. */
final class DrillPage {
    private static final String FILE = "docs/disasters.md";
    private static final Pattern SECTION = Pattern.compile("(?ms)^## (.*?)\\n(.*?)(?=^## |\\z)");

    private DrillPage() {}

    /** Returns the commands of the first shell block of a section whose first command contains a text. */
    static List<String> commands(String section, String firstCommand) {
        return section(section).blocks("sh").stream()
                .map(block -> block.lines()
                        .map(line -> line.replaceAll("\\s+#.*", "").strip())
                        .filter(line -> !line.isEmpty())
                        .toList())
                .filter(lines -> lines.getFirst().contains(firstCommand))
                .findFirst()
                .orElseThrow(() -> new AssertionError(section + " has no commands with " + firstCommand));
    }

    /** Returns the YAML files of a section. */
    static List<String> yaml(String section) {
        return section(section).blocks("yaml");
    }

    private static Page section(String section) {
        String text = SECTION.matcher(Page.of(FILE).text())
                .results()
                .filter(match -> match.group(1).equals(section))
                .map(match -> match.group(2))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no section " + section));
        // Blocks of a numbered step are indented.
        return new Page(FILE, text.replaceAll("(?m)^   ", ""));
    }
}
