package dev.puri.benchmarks;

import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.Outbox;
import dev.puri.client.outbox.OutboxRelay;
import dev.puri.client.outbox.RelaySettings;
import dev.puri.client.outbox.RelayStatus;
import dev.puri.embedded.EmbeddedRegistry;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Topics;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Measures how events pass through an outbox in PostgreSQL.
 *
 * <pre>
 *   backlog   committed before ──▶ outbox ──▶ polling relay ──▶ events topic ──▶ a consumer that counts
 *
 *   latency   commits at a fixed rate ──▶ outbox ──▶ relay ──▶ topology ──▶ resolver ◀── GET by pURI until it is found
 * </pre>
 *
 * Database and schema registry have processes of their own; all else is in this one.
 */
final class OutboxBench {
    /** Events of one transaction of the backlog. */
    private static final int TRANSACTION = 100;

    private final ClientBench.Plan plan;
    private final Consumer<String> progress;

    OutboxBench(ClientBench.Plan plan, Consumer<String> progress) {
        this.plan = plan;
        this.progress = progress;
    }

    List<Figure> measure() throws Exception {
        Path directory = FreshBroker.newDirectory();
        try (EmbeddedRegistry registry = EmbeddedRegistry.start(directory, 0);
                OutboxDatabase database = OutboxDatabase.start()) {
            Ingest.registerSchemas(registry.url());
            Rounds paces = new Rounds(plan.rounds(), progress)
                    .run(
                            "outbox, events relayed, 1/s",
                            (round, turn) ->
                                    turn.record("relayed", relayed(database, registry.url(), "backlog_" + round)));
            List<Figure> figures = new ArrayList<>();
            figures.add(Figure.alone(
                    "outbox, backlog of %,d events relayed".formatted(plan.backlog()), "1/s", paces.median("relayed")));
            figures.addAll(
                    new CommitLatency(database, registry.url(), plan.rate(), plan.duration(), progress).measure());
            return figures;
        } finally {
            FreshBroker.delete(directory);
        }
    }

    private double relayed(OutboxDatabase database, String schemaRegistry, String table) throws Exception {
        try (FreshBroker broker = FreshBroker.start()) {
            database.create(table);
            fill(database, table);
            RelaySettings settings = settings(database, broker, schemaRegistry, table);
            try (Drain drain = new Drain(broker.bootstrapServers(), Topics.EVENTS);
                    OutboxRelay relay = OutboxRelay.start(settings)) {
                return drain.paceOf(plan.backlog(), () -> hasNoProblem(relay)).perSecond();
            }
        }
    }

    private void fill(OutboxDatabase database, String table) throws SQLException {
        Outbox outbox = new Outbox(Dialect.POSTGRESQL, table, () -> null);
        Creations creations = new Creations();
        try (Connection connection = database.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            for (int added = 0; added < plan.backlog(); added += TRANSACTION) {
                List<Event> events = new ArrayList<>(TRANSACTION);
                for (int i = added; i < Math.min(added + TRANSACTION, plan.backlog()); i++) {
                    events.add(creations.next(true));
                }
                outbox.addAll(connection, events);
                connection.commit();
            }
        }
    }

    static RelaySettings settings(OutboxDatabase database, FreshBroker broker, String schemaRegistry, String table) {
        return RelaySettings.of(
                        database.dataSource(),
                        Dialect.POSTGRESQL,
                        Map.of("bootstrap.servers", broker.bootstrapServers(), "schema.registry.url", schemaRegistry))
                .withTable(table);
    }

    private static boolean hasNoProblem(OutboxRelay relay) {
        return status(relay).problem() == null;
    }

    static RelayStatus status(OutboxRelay relay) {
        try {
            return relay.status();
        } catch (SQLException e) {
            throw new IllegalStateException("the outbox cannot be read", e);
        }
    }
}
