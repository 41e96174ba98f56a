package dev.puri.registry;

import dev.puri.http.HttpSettings;
import dev.puri.settings.KafkaProperties;
import dev.puri.settings.Setting;
import java.nio.file.Path;
import java.time.Duration;

/** The settings of the streams service. */
public record StreamsSettings(
        @Setting(doc = "Bootstrap servers of Kafka, host:port, comma-separated.", byDefault = "127.0.0.1:9092")
        String bootstrapServer,

        @Setting(
                doc = "Base URL of a schema registry with Confluent's API.",
                byDefault = "http://127.0.0.1:8081/apis/ccompat/v7")
        String schemaRegistry,

        @Setting(
                doc = "application.id of Kafka Streams: prefix of its group, transactional ids and internal topics.",
                byDefault = "puri-registry")
        String streamsApplicationId,

        @Setting(
                doc =
                        "Directory of the state stores. Each instance needs its own directory and must keep it over a restart.",
                byDefault = "data/streams")
        Path streamsStateDir,

        @Setting(doc = "Number of stream threads.", byDefault = "2", atLeast = "1", atMost = "64")
        int streamsThreads,

        @Setting(
                doc = "Standby replicas of each state store on other instances, for a fast failover.",
                byDefault = "0",
                atLeast = "0",
                atMost = "5")
        int streamsStandbys,

        @Setting(
                doc = "Maximum time between two commits under load. Results become visible at a commit."
                        + " Under low load a thread commits earlier.",
                byDefault = "100ms",
                atLeast = "1ms",
                atMost = "5s")
        Duration streamsCommitInterval,

        @Setting(
                doc =
                        "Replication factor of the internal topics; each other topic must have at least this many replicas.",
                byDefault = "1",
                atLeast = "1",
                atMost = "9")
        int streamsReplicationFactor,

        @Setting(
                doc = "Memory of the state stores' caches and write buffers, outside the heap, in MiB.",
                byDefault = "256",
                atLeast = "32",
                atMost = "65536")
        int streamsStoreMemory,

        @Setting(doc = "Address of the HTTP server for health and metrics.", byDefault = "127.0.0.1")
        String streamsHttpHost,

        @Setting(
                doc = "Port of the HTTP server for health and metrics; 0 takes a free port.",
                byDefault = "8082",
                atLeast = "0",
                atMost = "65535")
        int streamsHttpPort,

        HttpSettings http,

        @Setting(doc = "Properties of the Kafka clients, e.g. PURI_KAFKA_SECURITY_PROTOCOL=SSL.")
        KafkaProperties kafka) {}
