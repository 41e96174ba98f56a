package dev.puri.acceptance;

import com.microsoft.playwright.Route;
import java.util.function.Consumer;

/** Answers that a page receives from the test instead of the resolver. */
final class FakeAnswers {
    private FakeAnswers() {}

    /** Answers 200. */
    static Consumer<Route> answering(String json) {
        return route -> route.fulfill(
                new Route.FulfillOptions().setContentType("application/json").setBody(json));
    }

    /** Answers 503 as health does, with these details of the table. */
    static Consumer<Route> notReady(String details) {
        return route -> route.fulfill(new Route.FulfillOptions()
                .setStatus(503)
                .setContentType("application/json")
                .setBody("{\"status\":\"DOWN\",\"checks\":[{\"name\":\"table\",\"status\":\"DOWN\",\"data\":" + details
                        + "}]}"));
    }

    static Consumer<Route> problem(int status, String type, String detail) {
        return route -> route.fulfill(new Route.FulfillOptions()
                .setStatus(status)
                .setContentType("application/problem+json")
                .setBody("{\"type\":\"https://puri.dev/problems/" + type + "\",\"detail\":\"" + detail + "\"}"));
    }
}
