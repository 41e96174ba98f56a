package dev.puri.cli;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** Provides the version of the command, from a resource that the build writes. */
final class Version implements IVersionProvider {
    private static final String RESOURCE = "version.properties";

    @Override
    public String[] getVersion() throws IOException {
        Properties properties = new Properties();
        try (InputStream resource = Version.class.getResourceAsStream(RESOURCE)) {
            if (resource == null) {
                throw new IllegalStateException("the resource " + RESOURCE + " is missing");
            }
            properties.load(resource);
        }
        return new String[] {"puri " + properties.getProperty("version")};
    }
}
