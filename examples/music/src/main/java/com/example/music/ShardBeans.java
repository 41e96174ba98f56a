package com.example.music;

import com.zaxxer.hikari.HikariDataSource;
import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.Feed;
import dev.puri.client.outbox.Outbox;
import dev.puri.client.outbox.RelaySettings;
import dev.puri.schemas.identity.Shard;
import dev.puri.spring.boot.PuriProperties;
import dev.puri.spring.boot.RelayLifecycle;
import dev.puri.spring.boot.TransactionOutbox;
import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.springframework.beans.factory.BeanRegistrar;
import org.springframework.beans.factory.BeanRegistry;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Registers three beans for each shard in {@code music.shards}: a connection pool, a relay, and a {@link
 * ShardDatabase}.
 */
class ShardBeans implements BeanRegistrar {
    /** One entry of {@code music.shards}. */
    record Settings(String url, String username, String password) {}

    @Override
    public void register(BeanRegistry registry, Environment environment) {
        Map<String, Settings> shards = Binder.get(environment)
                .bind("music.shards", Bindable.mapOf(String.class, Settings.class))
                .get();
        shards.forEach((shard, settings) -> {
            String pool = "pool-" + shard;
            String relay = "relay-" + shard;
            registry.registerBean(pool, HikariDataSource.class, bean -> bean.supplier(beans -> pool(shard, settings)));
            registry.registerBean(
                    relay,
                    RelayLifecycle.class,
                    bean -> bean.supplier(beans ->
                            relay(beans.bean(pool, HikariDataSource.class), beans.bean(PuriProperties.class))));
            registry.registerBean(
                    "database-" + shard,
                    ShardDatabase.class,
                    bean -> bean.supplier(beans -> database(
                            new Shard(shard),
                            beans.bean(pool, HikariDataSource.class),
                            beans.bean(relay, RelayLifecycle.class))));
        });
    }

    private static HikariDataSource pool(String shard, Settings settings) {
        HikariDataSource pool = new HikariDataSource();
        pool.setPoolName(shard);
        pool.setJdbcUrl(settings.url());
        pool.setUsername(settings.username());
        pool.setPassword(settings.password());
        // Creates the tables before a relay or a query uses the pool.
        Flyway.configure().dataSource(pool).load().migrate();
        return pool;
    }

    private static RelayLifecycle relay(DataSource pool, PuriProperties puri) {
        return new RelayLifecycle(RelaySettings.of(pool, Dialect.POSTGRESQL, puri.producerProperties()), Feed.NONE);
    }

    private static ShardDatabase database(Shard shard, DataSource pool, RelayLifecycle relay) {
        return new ShardDatabase(
                shard,
                JdbcClient.create(pool),
                new TransactionTemplate(new DataSourceTransactionManager(pool)),
                // A commit wakes the relay of the shard. Without this, the relay would find the event at its next poll.
                new TransactionOutbox(new Outbox(Dialect.POSTGRESQL), pool, relay::wake));
    }
}
