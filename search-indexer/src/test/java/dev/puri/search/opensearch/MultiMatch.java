package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.search.index.Item;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;

/** An index with OpenSearch's dynamic mapping, searched with {@code multi_match} over all fields. */
final class MultiMatch implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int BATCH = 2_000;

    private final HttpClient client = HttpClient.newHttpClient();
    private final String url;
    private List<String> fields = List.of();

    MultiMatch(String url, String index) {
        this.url = url + "/" + index;
    }

    /** Writes items. Their positions in the list are their numbers. */
    void fill(List<Item> items) throws IOException, InterruptedException {
        fields = items.stream()
                .flatMap(item -> item.attributes().keySet().stream())
                .distinct()
                .sorted()
                .toList();
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < items.size(); i++) {
            ObjectNode document = JSON.createObjectNode();
            items.get(i).attributes().forEach(document::put);
            lines.append("{\"index\":{\"_id\":\"")
                    .append(i)
                    .append("\"}}\n")
                    .append(document)
                    .append('\n');
            if (i % BATCH == BATCH - 1 || i == items.size() - 1) {
                JsonNode response = send("POST", "/_bulk?refresh=" + (i == items.size() - 1), lines.toString());
                if (response.path("errors").asBoolean(true)) {
                    throw new IOException("OpenSearch rejected changes: "
                            + response.toString().substring(0, 500));
                }
                lines.setLength(0);
            }
        }
    }

    List<Integer> search(String typed, int limit) throws IOException, InterruptedException {
        ObjectNode body = JSON.createObjectNode().put("size", limit).put("_source", false);
        ObjectNode match = body.putObject("query").putObject("multi_match").put("query", typed);
        fields.forEach(match.putArray("fields")::add);
        List<Integer> found = new ArrayList<>();
        for (JsonNode hit :
                send("POST", "/_search", body.toString()).path("hits").path("hits")) {
            found.add(hit.path("_id").asInt());
        }
        return found;
    }

    private JsonNode send(String method, String path, String body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + path))
                .header("Content-Type", path.startsWith("/_bulk") ? "application/x-ndjson" : "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build();
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() / 100 != 2) {
            throw new IOException(response.statusCode() + " " + response.body());
        }
        return JSON.readTree(response.body());
    }

    @Override
    public void close() throws IOException, InterruptedException {
        send("DELETE", "", "");
        client.close();
    }
}
