package com.example.music;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** The code blocks of docs/tutorial.md. */
final class Tutorial {
    private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\w+)\\n(.*?)^```$");

    private Tutorial() {}

    static String text() throws IOException {
        return Files.readString(Path.of("..", "..", "docs", "tutorial.md"));
    }

    /** The blocks of one language. */
    static List<String> blocks(String language) throws IOException {
        List<String> blocks = new ArrayList<>();
        BLOCK.matcher(text())
                .results()
                .filter(block -> block.group(1).equals(language))
                .forEach(block -> blocks.add(block.group(2)));
        return blocks;
    }

    /** The one block of a language in which a text occurs. */
    static String block(String language, String text) throws IOException {
        List<String> blocks =
                blocks(language).stream().filter(block -> block.contains(text)).toList();
        if (blocks.size() != 1) {
            throw new IllegalStateException(blocks.size() + " blocks of " + language + " with " + text);
        }
        return blocks.get(0);
    }

    /**
     * Requests with their answers, which may take several lines, of a text in which each request begins with {@code $
     * curl}.
     */
    static Map<String, String> answers(String text) {
        Map<String, String> answers = new LinkedHashMap<>();
        String request = "";
        for (String line : text.lines().toList()) {
            if (line.startsWith("$ ")) {
                request = line;
                answers.put(request, "");
            } else if (!request.isEmpty()) {
                answers.merge(request, line.strip(), String::concat);
            }
        }
        answers.keySet().removeIf(each -> !each.startsWith("$ curl"));
        return answers;
    }

    /** Replaces the text that differs in each run: minted ids, the shard that an id chooses, and the port. */
    static String normalized(String text) {
        return text.replaceAll("\\b([a-z]{3})_[0-9a-z]{15}\\b", "$1_MINTED")
                .replaceAll("music:(tracks|playlists):[0-9a-z]{20}\\b", "music:$1:MINTED")
                .replaceAll(
                        "(\"puri\":\"music:tracks:MINTED\",\\s*\"handle\":\"trk_MINTED\",\\s*\"shard\":)\"[a-z0-9-]+\"",
                        "$1\"CHOSEN\"")
                .replaceAll("localhost:\\d+", "localhost:PORT");
    }
}
