package dev.puri.benchmarks;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Measures exports of a resolver in a process of its own. This process reads and discards them as fast as they arrive. */
final class ExportBench {
    private static final List<String> FORMATS = List.of("ndjson", "avro");
    private static final double MB = 1e6;

    private final int rows;
    private final int rounds;
    private final Consumer<String> progress;

    ExportBench(int rows, int rounds, Consumer<String> progress) {
        this.rows = rows;
        this.rounds = rounds;
        this.progress = progress;
    }

    List<Figure> measure(MeasuredResolver resolver) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return measure(client, resolver);
        }
    }

    private List<Figure> measure(HttpClient client, MeasuredResolver resolver) throws Exception {
        Map<String, Long> bytes = new HashMap<>();
        Rounds paces = new Rounds(rounds, progress).run("export of %,d rows, s".formatted(rows), (round, turn) -> {
            for (String format : FORMATS) {
                double exported = resolver.metric("puri_exports_rows_total");
                long begun = System.nanoTime();
                bytes.put(format, read(client, resolver, format));
                turn.record(format, Pace.seconds(begun));
                requireWhole(resolver, exported);
            }
        });
        String name = rows == 1_000_000 ? "export of 1 M rows" : "export of %,d rows".formatted(rows);
        List<Figure> figures = new ArrayList<>();
        for (String format : FORMATS) {
            figures.add(Figure.alone(name + ", " + format, "s", paces.median(format)));
            figures.add(Figure.alone(name + ", " + format + ": size", "MB", bytes.getOrDefault(format, 0L) / MB));
        }
        return figures;
    }

    private static long read(HttpClient client, MeasuredResolver resolver, String format) throws Exception {
        HttpResponse<InputStream> export = client.send(
                HttpRequest.newBuilder(
                                URI.create("http://127.0.0.1:" + resolver.port() + "/v1/export?format=" + format))
                        .build(),
                HttpResponse.BodyHandlers.ofInputStream());
        try (InputStream in = export.body()) {
            long bytes = in.transferTo(OutputStream.nullOutputStream());
            if (export.statusCode() != 200) {
                throw new IllegalStateException("an export was answered with " + export.statusCode());
            }
            return bytes;
        }
    }

    /** Waits until the resolver has counted the rows of an export, which may be a moment after the last one was read. */
    private void requireWhole(MeasuredResolver resolver, double before) throws Exception {
        long begun = System.nanoTime();
        while (resolver.metric("puri_exports_rows_total") - before != rows) {
            if (Pace.seconds(begun) > 10) {
                throw new IllegalStateException("an export did not have " + rows + " rows");
            }
        }
    }
}
