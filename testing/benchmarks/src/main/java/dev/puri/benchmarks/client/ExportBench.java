package dev.puri.benchmarks.client;

import dev.puri.benchmarks.environment.Await;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.benchmarks.report.Timing;
import dev.puri.benchmarks.serve.MeasuredResolver;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures exports of a resolver in a separate process. This process reads and discards the bytes as fast as they
 * arrive.
 */
record ExportBench(ClientBench bench, MeasuredResolver resolver) {
    private static final List<String> FORMATS = List.of("ndjson", "avro");

    void measure() throws Exception {
        String name = bench.rows == 1_000_000 ? "export of 1 M rows" : "export of %,d rows".formatted(bench.rows);
        Map<String, Long> bytes = new HashMap<>();
        try (HttpClient client = HttpClient.newHttpClient()) {
            Rounds rounds = bench.measureRounds(bench.rounds, name + ", s", (round, recorder) -> {
                for (String format : FORMATS) {
                    double rowsBefore = exportedRows();
                    long startNanos = System.nanoTime();
                    bytes.put(format, read(client, format));
                    recorder.record(format, Timing.seconds(startNanos));
                    // The resolver may count the rows shortly after the last row was read.
                    Await.until(
                            "an export of all rows",
                            Duration.ofSeconds(10),
                            () -> exportedRows() - rowsBefore == bench.rows);
                }
            });
            for (String format : FORMATS) {
                rounds.add(name + ", " + format, "s", format);
                bench.add(name + ", " + format + ": size", "MB", bytes.getOrDefault(format, 0L) / 1e6);
            }
        }
    }

    private double exportedRows() throws IOException {
        return resolver.metric("puri_exports_rows_total");
    }

    /** Reads an export to its end, and returns its size in bytes. */
    private long read(HttpClient client, String format) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(resolver.url() + "/v1/export?format=" + format))
                .build();
        HttpResponse<InputStream> export = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
        try (InputStream in = export.body()) {
            long bytes = in.transferTo(OutputStream.nullOutputStream());
            if (export.statusCode() != 200) {
                throw new IllegalStateException("an export was answered with " + export.statusCode());
            }
            return bytes;
        }
    }
}
