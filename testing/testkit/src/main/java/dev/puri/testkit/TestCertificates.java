package dev.puri.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * Certificates for tests, created with the JDK's keytool. The authority {@code ca} has signed {@code server}, {@code
 * renewed} and {@code client}. Another authority has signed {@code stranger}.
 */
public final class TestCertificates {
    private static final char[] PASSWORD = "changeit".toCharArray();
    private static @Nullable TestCertificates shared;

    private final Path folder;
    private final KeyStore keys;

    /** Returns the certificates that all tests of this JVM share, because creating them takes seconds. */
    public static synchronized TestCertificates shared() {
        if (shared == null) {
            shared = new TestCertificates();
        }
        return shared;
    }

    private TestCertificates() {
        try {
            folder = Files.createTempDirectory("puri-certificates");
            folder.toFile().deleteOnExit();
            Path store = folder.resolve("keys.p12");
            store.toFile().deleteOnExit();
            keytool(store, "ca", "EC", null);
            keytool(store, "server", "EC", "ca");
            keytool(store, "renewed", "RSA", "ca");
            keytool(store, "client", "EC", "ca");
            keytool(store, "strangers", "EC", null);
            keytool(store, "stranger", "EC", "strangers");
            keys = KeyStore.getInstance("PKCS12");
            try (InputStream in = Files.newInputStream(store)) {
                keys.load(in, PASSWORD);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void keytool(Path store, String alias, String algorithm, @Nullable String signer)
            throws IOException {
        Path tool = Path.of(System.getProperty("java.home"), "bin", "keytool");
        List<String> command = new ArrayList<>(List.of(tool.toString(), "-genkeypair", "-noprompt"));
        command.addAll(List.of("-keystore", store.toString(), "-storetype", "PKCS12", "-storepass", "changeit"));
        command.addAll(List.of("-alias", alias, "-dname", "CN=" + alias, "-validity", "2", "-keyalg", algorithm));
        if (signer == null) {
            command.addAll(List.of("-ext", "bc:c"));
        } else {
            command.addAll(List.of("-signer", signer, "-ext", "san=ip:127.0.0.1,dns:localhost"));
        }
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IllegalStateException("keytool failed: " + output);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            process.destroyForcibly();
        }
    }

    /**
     * Writes a certificate and the intermediate certificates of its chain, without the root, as PEM.
     *
     * @return the file
     */
    public Path certificate(String alias, Path file) {
        try {
            List<Certificate> chain = Arrays.asList(keys.getCertificateChain(alias));
            StringBuilder pem = new StringBuilder();
            for (Certificate certificate : chain.size() == 1 ? chain : chain.subList(0, chain.size() - 1)) {
                pem.append(pem("CERTIFICATE", certificate.getEncoded()));
            }
            return Files.writeString(file, pem);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Writes the private key of a certificate as unencrypted PEM.
     *
     * @return the file
     */
    public Path key(String alias, Path file) {
        try {
            return Files.writeString(
                    file, pem("PRIVATE KEY", keys.getKey(alias, PASSWORD).getEncoded()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String pem(String label, byte[] der) {
        return "-----BEGIN " + label + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der)
                + "\n-----END " + label + "-----\n";
    }

    /**
     * Returns the TLS context of a client that trusts the authority {@code ca}.
     *
     * @param alias the client's certificate; null for none
     */
    public SSLContext client(@Nullable String alias) {
        try {
            KeyStore trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, null);
            trusted.setCertificateEntry("ca", keys.getCertificate("ca"));
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(alias == null ? new KeyManager[0] : keyManagers(alias), trust.getTrustManagers(), null);
            return context;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private KeyManager[] keyManagers(String alias) throws GeneralSecurityException, IOException {
        KeyStore own = KeyStore.getInstance("PKCS12");
        own.load(null, null);
        own.setKeyEntry(alias, keys.getKey(alias, PASSWORD), PASSWORD, keys.getCertificateChain(alias));
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(own, PASSWORD);
        return new KeyManager[] {new FixedCertificate(alias, (X509ExtendedKeyManager) factory.getKeyManagers()[0])};
    }

    /** A key manager that always presents the same certificate, even if the server does not accept its authority. */
    private static final class FixedCertificate extends X509ExtendedKeyManager {
        private final String alias;
        private final X509ExtendedKeyManager keys;

        FixedCertificate(String alias, X509ExtendedKeyManager keys) {
            this.alias = alias;
            this.keys = keys;
        }

        @Override
        public String chooseEngineClientAlias(String[] types, Principal[] issuers, SSLEngine engine) {
            return alias;
        }

        @Override
        public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
            return alias;
        }

        @Override
        public String[] getClientAliases(String type, Principal[] issuers) {
            return new String[] {alias};
        }

        @Override
        public String[] getServerAliases(String type, Principal[] issuers) {
            return new String[0];
        }

        @Override
        public @Nullable String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
            return null;
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            return keys.getCertificateChain(alias);
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            return keys.getPrivateKey(alias);
        }
    }
}
