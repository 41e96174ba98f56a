# One image for all services. The command selects the service (streams, resolver, indexer, topics create, …).

FROM maven:3.9.12-eclipse-temurin-25-noble AS build
WORKDIR /source
COPY . .
RUN mvn -B -q -DskipTests -Dmaven.test.skip=true -Dspotless.check.skip=true -Dpuri.checks.skip=true -pl cli -am package

FROM eclipse-temurin:25.0.3_9-jre-noble
# A new named volume that is mounted at the state folder gets the folder's owner, so the user can write to it.
RUN groupadd --system --gid 10001 puri \
    && useradd --system --uid 10001 --gid puri --home-dir /var/lib/puri --shell /usr/sbin/nologin puri \
    && install -d -o puri -g puri -m 0700 /var/lib/puri
COPY --from=build /source/cli/target/lib /opt/puri/lib
COPY --from=build /source/cli/target/cli-*.jar /opt/puri/lib/
USER 10001:10001
WORKDIR /var/lib/puri
# The heap gets half of the memory. The other half is for off-heap data: RocksDB, buffers, the page cache.
ENTRYPOINT ["java", "-XX:MaxRAMPercentage=50", "-XX:+ExitOnOutOfMemoryError", \
    "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", \
    "-cp", "/opt/puri/lib/*", "dev.puri.cli.Main"]
CMD ["--help"]
