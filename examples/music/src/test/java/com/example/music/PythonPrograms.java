package com.example.music;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The service in {@code python}, with the packages that it imports. */
final class PythonPrograms {
    static final String MISSING = "python3 does not import the packages of examples/music/python;"
            + " on Debian: apt-get install python3-confluent-kafka python3-avro";

    private static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();

    /** Debian's packages are of its own Python. Another one that comes first on the path has its own, or none. */
    private static final String PREPARE = """
            set -euo pipefail
            python3 -c 'import avro, confluent_kafka' 2> /dev/null || PATH=/usr/bin:$PATH
            """;

    private final Commands commands;
    private final Path script;

    /**
     * Looks for the packages. Where they are missing the test is skipped; on the build server it fails.
     *
     * @param outputs folder for the programs' output
     */
    PythonPrograms(Path outputs) throws Exception {
        commands = new Commands(ROOT, Files.createDirectories(outputs));
        script = outputs.resolve("script");
        Files.writeString(script, PREPARE + "python3 -c 'import avro, confluent_kafka'");
        commands.require(MISSING, Map.of(), "bash", script.toString());
    }

    /** Runs a shell script in the root of the repository, and returns the lines that it prints. */
    List<String> run(Map<String, String> environment, String text) throws Exception {
        Files.writeString(script, PREPARE + text);
        Map<String, String> all = new HashMap<>(environment);
        all.put("PYTHONDONTWRITEBYTECODE", "1");
        return commands.run(all, "bash", script.toString());
    }
}
