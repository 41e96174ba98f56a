# One image for every service: the command names it (streams, resolver, indexer, topics create, …).

FROM maven:3.9.12-eclipse-temurin-25-noble AS build
WORKDIR /source
COPY . .
RUN mvn -B -q -DskipTests -Dmaven.test.skip=true -Dspotless.check.skip=true -Dpuri.checks.skip=true -pl cli -am package

FROM eclipse-temurin:25.0.3_9-jre-noble
# A state folder that belongs to the user, so that a fresh named volume on it does too.
RUN groupadd --system --gid 10001 puri \
    && useradd --system --uid 10001 --gid puri --home-dir /var/lib/puri --shell /usr/sbin/nologin puri \
    && install -d -o puri -g puri -m 0700 /var/lib/puri
COPY --from=build /source/cli/target/lib /opt/puri/lib
COPY --from=build /source/cli/target/cli-*.jar /opt/puri/lib/
USER 10001:10001
WORKDIR /var/lib/puri
# Half of the memory is left to what lives off the heap: RocksDB, buffers, the page cache.
ENTRYPOINT ["java", "-XX:MaxRAMPercentage=50", "-XX:+ExitOnOutOfMemoryError", \
    "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", \
    "-cp", "/opt/puri/lib/*", "dev.puri.cli.Main"]
CMD ["--help"]
