package com.example.music;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/** Searches with the registry's search indexer, which has indexed the attributes of the objects in all shards. */
@Component
class SearchClient {
    /** A page of results, with the fields that this service returns. */
    record SearchResult(List<Hit> results, long total, Map<String, Map<String, Long>> facets) {}

    /** One result. There is no handle if the collection has no prefix. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Hit(String puri, @Nullable String handle, String shard, Map<String, String> attributes) {}

    private final RestClient indexer;

    SearchClient(@Value("${music.search-url}") String url) {
        this.indexer = RestClient.create(url);
    }

    SearchResult search(String words) {
        return Objects.requireNonNull(indexer.get()
                .uri("/v1/search?namespace=music&q={words}", words)
                .retrieve()
                .body(SearchResult.class));
    }
}
