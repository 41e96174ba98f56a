package dev.puri.client.outbox;

import dev.puri.client.Events;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Services that write the same few pURIs concurrently; some transactions fail. Each event increments its pURI's count
 * in the same transaction, so the counts are the order of the commits.
 */
final class InterleavedWriters {
    private static final int THREADS = 4;
    private static final int PURIS = 5;

    private final TestDatabase database;
    private final String table;
    private final String namespace;
    private final Outbox outbox;
    private final Events events = new Events("outbox-test");
    private final Map<String, SortedMap<Long, List<UUID>>> committed = new ConcurrentHashMap<>();
    private final Set<UUID> rolledBack = ConcurrentHashMap.newKeySet();

    InterleavedWriters(TestDatabase database, String table, String namespace) throws SQLException {
        this.database = database;
        this.table = table;
        this.namespace = namespace;
        this.outbox = new Outbox(database.dialect(), table, () -> null);
        List<String> statements = new ArrayList<>();
        statements.add("CREATE TABLE " + table + "_count (puri varchar(100) PRIMARY KEY, n bigint NOT NULL)");
        for (int i = 0; i < PURIS; i++) {
            statements.add("INSERT INTO " + table + "_count VALUES ('" + puri(i) + "', 0)");
            committed.put(puri(i), new ConcurrentSkipListMap<>());
        }
        database.execute(statements);
    }

    private String puri(int i) {
        return namespace + ":things:" + i;
    }

    /** Writes by several threads, and returns when all are done. */
    void write(long seed, int transactionsOfEach) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> all = new ArrayList<>();
            SplittableRandom random = new SplittableRandom(seed);
            for (int i = 0; i < THREADS; i++) {
                SplittableRandom own = random.split();
                all.add(threads.submit(() -> {
                    try (Connection connection = database.dataSource().getConnection()) {
                        connection.setAutoCommit(false);
                        for (int j = 0; j < transactionsOfEach; j++) {
                            transaction(connection, own);
                        }
                        return null;
                    }
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private void transaction(Connection connection, SplittableRandom random) throws SQLException {
        List<Event> written = new ArrayList<>();
        int number = 1 + random.nextInt(4);
        for (int i = 0; i < number; i++) {
            written.add(events.described(Puri.parse(puri(random.nextInt(PURIS))))
                    .attribute("title", "t" + random.nextInt())
                    .build());
        }
        // The outbox's lock orders these transactions: none changes the count before it has the lock.
        outbox.addAll(connection, written);
        Map<String, Long> counts = new HashMap<>();
        for (String puri :
                new TreeSet<>(written.stream().map(e -> e.puri().toString()).toList())) {
            counts.put(puri, count(connection, puri));
        }
        if (random.nextInt(4) == 0) {
            connection.rollback();
            written.forEach(event -> rolledBack.add(event.eventId()));
            return;
        }
        connection.commit();
        Map<String, List<UUID>> ids = new HashMap<>();
        for (Event event : written) {
            ids.computeIfAbsent(event.puri().toString(), key -> new ArrayList<>())
                    .add(event.eventId());
        }
        ids.forEach((puri, list) -> committed.get(puri).put(counts.get(puri), list));
    }

    private long count(Connection connection, String puri) throws SQLException {
        try (PreparedStatement update =
                        connection.prepareStatement("UPDATE " + table + "_count SET n = n + 1 WHERE puri = ?");
                PreparedStatement select =
                        connection.prepareStatement("SELECT n FROM " + table + "_count WHERE puri = ?")) {
            update.setString(1, puri);
            update.executeUpdate();
            select.setString(1, puri);
            try (ResultSet result = select.executeQuery()) {
                result.next();
                return result.getLong(1);
            }
        }
    }

    /** The ids of committed events, by pURI, in the order of the commits. */
    Map<String, List<UUID>> committed() {
        Map<String, List<UUID>> ids = new TreeMap<>();
        committed.forEach((puri, byCount) -> {
            List<UUID> inOrder =
                    byCount.values().stream().flatMap(Collection::stream).toList();
            if (!inOrder.isEmpty()) {
                ids.put(puri, inOrder);
            }
        });
        return ids;
    }

    /** The ids of events whose transactions were rolled back. */
    Set<UUID> rolledBack() {
        return rolledBack;
    }
}
