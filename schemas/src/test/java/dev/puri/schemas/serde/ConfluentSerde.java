package dev.puri.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Confluent's own serializer and deserializer, in a class loader of their own. They are spoken to by
 * reflection, for their Kafka interfaces may be other classes than ours.
 */
final class ConfluentSerde implements AutoCloseable {
    private static final Path JARS = Path.of("target/confluent/META-INF/bundled-dependencies");

    /** A wrapper of Confluent's classes. */
    enum Surroundings {
        /** Our Avro and Kafka client and our generated classes: a service of ours that only changes the class name. */
        OURS("org.apache.avro.", "org.apache.kafka.", "org.slf4j.", "dev.puri.schemas.avro."),
        /** None of our classes; Avro 1.11 and Kafka 3.9: somebody else's consumer. */
        THEIR_OWN;

        private final List<String> shared;

        Surroundings(String... shared) {
            this.shared = List.of(shared);
        }
    }

    /** All instances share a loader, because loading the classes takes most of the time of a test. */
    private static final Map<Surroundings, ClassLoader> LOADERS = new ConcurrentHashMap<>();

    private final ClassLoader loader;
    private final Object serializer;
    private final Object deserializer;

    ConfluentSerde(Surroundings surroundings, Map<String, ?> configs) throws Exception {
        loader = LOADERS.computeIfAbsent(surroundings, ConfluentSerde::newLoader);
        serializer = call(() -> configured("KafkaAvroSerializer", configs));
        deserializer = call(() -> configured("KafkaAvroDeserializer", configs));
    }

    byte[] serialize(String topic, Object datum) throws Exception {
        Object bytes = call(() -> serializer
                .getClass()
                .getMethod("serialize", String.class, Object.class)
                .invoke(serializer, topic, datum));
        return (byte[]) bytes;
    }

    Object deserialize(String topic, byte[] value) throws Exception {
        return call(() -> deserializer
                .getClass()
                .getMethod("deserialize", String.class, byte[].class)
                .invoke(deserializer, topic, value));
    }

    private Object configured(String name, Map<String, ?> configs) throws Exception {
        Class<?> type = Class.forName("io.confluent.kafka.serializers." + name, true, loader);
        assertThat(type.getClassLoader()).isSameAs(loader);
        Object serde = type.getConstructor().newInstance();
        type.getMethod("configure", Map.class, boolean.class).invoke(serde, configs, false);
        return serde;
    }

    private interface Call {
        Object run() throws Exception;
    }

    /** Kafka finds classes that are named in configuration by the thread's loader. */
    private Object call(Call call) throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(loader);
        try {
            return Objects.requireNonNull(call.run());
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    private static ClassLoader newLoader(Surroundings surroundings) {
        URL[] jars;
        try (Stream<Path> files = Files.list(JARS)) {
            jars = files.map(Path::toUri)
                    .map(uri -> {
                        try {
                            return uri.toURL();
                        } catch (IOException e) {
                            throw new IllegalStateException(e);
                        }
                    })
                    .toArray(URL[]::new);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        assertThat(jars).as("unpacked by the build").hasSizeGreaterThan(10);
        ClassLoader ours = ConfluentSerde.class.getClassLoader();
        ClassLoader parent = new ClassLoader(ClassLoader.getPlatformClassLoader()) {
            @Override
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                if (surroundings.shared.stream().anyMatch(name::startsWith)) {
                    return ours.loadClass(name);
                }
                throw new ClassNotFoundException(name);
            }
        };
        return new URLClassLoader(jars, parent);
    }

    @Override
    public void close() throws Exception {
        for (Object serde : List.of(serializer, deserializer)) {
            serde.getClass().getMethod("close").invoke(serde);
        }
    }
}
