package dev.puri.registry;

import dev.puri.http.HttpSettings;
import dev.puri.settings.KafkaProperties;
import dev.puri.settings.Setting;
import java.nio.file.Path;
import java.time.Duration;

/** The settings of the streams service. */
public record StreamsSettings(
        @Setting(doc = "Kafka brokers to begin with, host:port, comma-separated.", byDefault = "127.0.0.1:9092")
        String bootstrapServer,

        @Setting(
                doc = "Base URL of a schema registry that speaks Confluent's API.",
                byDefault = "http://127.0.0.1:8081/apis/ccompat/v7")
        String schemaRegistry,

        @Setting(
                doc = "Names the topology in Kafka: its group, its transactions and its own topics.",
                byDefault = "puri-registry")
        String streamsApplicationId,

        @Setting(doc = "Where stores lie; one for each instance, kept over a restart.", byDefault = "data/streams")
        Path streamsStateDir,

        @Setting(doc = "Threads that process events.", byDefault = "2", atLeast = "1", atMost = "64")
        int streamsThreads,

        @Setting(
                doc = "Copies of the stores on other instances, for a quick take-over.",
                byDefault = "0",
                atLeast = "0",
                atMost = "5")
        int streamsStandbys,

        @Setting(
                doc = "The longest time between two commits, which make work visible, while records flood in;"
                        + " with less to do a thread commits sooner.",
                byDefault = "100ms",
                atLeast = "1ms",
                atMost = "5s")
        Duration streamsCommitInterval,

        @Setting(
                doc = "The least replication factor of every topic, and that of the topology's own.",
                byDefault = "1",
                atLeast = "1",
                atMost = "9")
        int streamsReplicationFactor,

        @Setting(
                doc = "Memory for the stores' caches and write buffers outside the heap, MiB.",
                byDefault = "256",
                atLeast = "32",
                atMost = "65536")
        int streamsStoreMemory,

        @Setting(doc = "Address of health and metrics.", byDefault = "127.0.0.1")
        String streamsHttpHost,

        @Setting(
                doc = "Port of health and metrics; 0 takes a free one.",
                byDefault = "8082",
                atLeast = "0",
                atMost = "65535")
        int streamsHttpPort,

        HttpSettings http,

        @Setting(doc = "Passed on to the Kafka clients, e.g. PURI_KAFKA_SECURITY_PROTOCOL=SSL.")
        KafkaProperties kafka) {}
