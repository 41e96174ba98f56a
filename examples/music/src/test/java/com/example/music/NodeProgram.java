package com.example.music;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The service in {@code node}, with its packages. */
final class NodeProgram {
    private static final Path SOURCES = Path.of("node");

    private final Commands commands;

    /**
     * Installs the packages. Where they cannot be had the test is skipped; on the build server it fails.
     *
     * @param folder for a copy of the program, and for the packages
     */
    NodeProgram(Path folder) throws Exception {
        Files.createDirectories(folder);
        for (String file : List.of("package.json", "package-lock.json", "reviews.mjs")) {
            Files.copy(SOURCES.resolve(file), folder.resolve(file));
        }
        commands = new Commands(folder, folder);
        commands.require(
                "npm does not install the packages of examples/music/node",
                Map.of(),
                "npm",
                "ci",
                "--prefer-offline",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund");
    }

    /** Runs it, and returns the lines that it prints. */
    List<String> run(Map<String, String> environment, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("node", "reviews.mjs"));
        command.addAll(List.of(arguments));
        return commands.run(environment, command.toArray(String[]::new));
    }
}
