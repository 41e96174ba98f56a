package dev.puri.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.Locale;

/**
 * Requests or cancels the rebuild of a resolver's table or of the index, shows the progress on a terminal, and prints
 * the result.
 *
 * @param console receives the progress and the result
 * @param asJson whether to print the server's response unchanged
 * @param server the server that rebuilds its table or index
 * @param path the path of the rebuild in the server's API
 * @param activity a participle for the progress, such as {@code rebuilding}
 * @param unit the member of the response with the number of rows or records that were read
 * @param total the member of the response with the number of offsets to read
 */
record RebuildProgress(
        Console console, boolean asJson, ApiClient server, String path, String activity, String unit, String total) {
    private static final Duration POLL_INTERVAL = Duration.ofMillis(200);

    static RebuildProgress ofTable(Subcommand command) {
        ApiClient resolver = ApiClient.ofResolver(command.console(), command.settings());
        return new RebuildProgress(
                command.console(), command.asJson(), resolver, "/v1/table/rebuild", "rebuilding", "rows", "end");
    }

    static RebuildProgress ofIndex(Subcommand command, ApiClient indexer) {
        return new RebuildProgress(
                command.console(), command.asJson(), indexer, "/v1/search/reindex", "reindexing", "records", "of");
    }

    /** Requests a rebuild and waits for its end. Returns the exit status. */
    int start() throws InterruptedException {
        server.post(path);
        return await().equals("done") ? ExitStatus.DONE : ExitStatus.FAILED;
    }

    /** Cancels the running rebuild. Returns the exit status. */
    int cancel() throws InterruptedException {
        server.delete(path);
        await();
        return ExitStatus.DONE;
    }

    /** Waits until no rebuild runs, and prints the status. Returns the state. */
    private String await() throws InterruptedException {
        ApiClient.Response response = server.get(path);
        String lastDetail = "";
        while (state(response.json()).equals("running")) {
            String detail = response.json().path("detail").asText();
            if (!detail.isEmpty() && !detail.equals(lastDetail)) {
                console.say("puri: waiting: " + detail);
                lastDetail = detail;
            }
            showProgress(response.json());
            Thread.sleep(POLL_INTERVAL);
            response = server.get(path);
        }
        console.clearProgress();
        print(response);
        return state(response.json());
    }

    private static String state(JsonNode status) {
        return status.path("state").asText();
    }

    private void print(ApiClient.Response response) {
        if (asJson) {
            console.out().println(response.text().stripTrailing());
            return;
        }
        new TextTable("STATE", unit.toUpperCase(Locale.ROOT), "SECONDS")
                .row(
                        state(response.json()),
                        response.json().path(unit).asText(),
                        response.json().path("seconds").asText())
                .print(console.out());
    }

    private void showProgress(JsonNode status) {
        long end = status.path(total).asLong();
        console.showProgress(activity + ", "
                + (end == 0 ? 0 : 100 * status.path("reached").asLong() / end) + " %, "
                + status.path(unit).asText("0") + " " + unit);
    }
}
