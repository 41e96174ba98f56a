package com.example.music;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The service in Python, by its own tests, which need no registry. */
class PythonTest {
    @TempDir
    private Path folder;

    @Test
    void namesAgreeWithTheVectorsAndEventsWithTheSchema() throws Exception {
        new PythonPrograms(folder)
                .run(Map.of(), "cd examples/music/python && python3 -m unittest test_names test_concerts");
    }
}
