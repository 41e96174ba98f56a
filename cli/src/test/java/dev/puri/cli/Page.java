package dev.puri.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A page of the documentation; {@code file} is relative to the repository's root. */
record Page(String file, String text) {
    static final Path ROOT = Path.of("..");

    private static final Pattern CODE_BLOCK = Pattern.compile("(?ms)^```(\\w+)\\n(.*?)^```$");

    static Page of(String file) {
        try {
            return new Page(file, Files.readString(ROOT.resolve(file)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Page readme() {
        return of("README.md");
    }

    /** README and every page of docs. */
    static List<Page> all() {
        List<Page> pages = new ArrayList<>(List.of(readme()));
        try (Stream<Path> files = Files.list(ROOT.resolve("docs"))) {
            files.map(file -> "docs/" + file.getFileName())
                    .filter(file -> file.endsWith(".md"))
                    .sorted()
                    .map(Page::of)
                    .forEach(pages::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return pages;
    }

    /** The fenced blocks of one language. */
    List<String> blocks(String language) {
        return CODE_BLOCK
                .matcher(text)
                .results()
                .filter(block -> block.group(1).equals(language))
                .map(block -> block.group(2))
                .toList();
    }

    /** Lines of the fenced blocks of one language that begin with this text. */
    List<String> lines(String language, String start) {
        return blocks(language).stream()
                .flatMap(String::lines)
                .filter(line -> line.startsWith(start))
                .toList();
    }

    /** Rows of the tables whose first cell begins with code: the cells, without their marks. */
    List<List<String>> rows() {
        return text.lines()
                .filter(line -> line.startsWith("| `"))
                .map(Page::cells)
                .toList();
    }

    /** The cells of a table's row, without marks of code. */
    static List<String> cells(String row) {
        return Arrays.stream(row.substring(1, row.length() - 1).split("\\|", -1))
                .map(cell -> cell.strip().replace("`", ""))
                .toList();
    }
}
