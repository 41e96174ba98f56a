package dev.puri.testkit;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.security.auth.x500.X500Principal;
import org.jspecify.annotations.Nullable;

/**
 * Certificates for tests. The authority {@code ca} has signed {@code server}, {@code renewed} and {@code client}.
 * Another authority has signed {@code stranger}.
 */
public final class TestCertificates {
    private static @Nullable TestCertificates shared;

    private final Map<String, Identity> identities = new HashMap<>();

    /** A private key, and its certificate with the authority's certificate after it. */
    private record Identity(PrivateKey key, X509Certificate... chain) {}

    /**
     * Returns the certificates that all tests of this JVM share. From then on, key stores of this JVM have weak
     * encryption, which makes TLS servers start sooner.
     */
    public static synchronized TestCertificates shared() {
        if (shared == null) {
            shared = new TestCertificates();
        }
        return shared;
    }

    private TestCertificates() {
        // Servers encrypt their key several times at each start. The 10,000 rounds of the JDK's default would take most
        // of the time of a start.
        System.setProperty("keystore.pkcs12.keyPbeIterationCount", "1");
        try {
            create("ca", "EC", null);
            create("server", "EC", "ca");
            create("renewed", "RSA", "ca");
            create("client", "EC", "ca");
            create("strangers", "EC", null);
            create("stranger", "EC", "strangers");
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private void create(String alias, String algorithm, @Nullable String authority) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
        generator.initialize(algorithm.equals("EC") ? 256 : 2048);
        KeyPair pair = generator.generateKeyPair();
        if (authority == null) {
            X509Certificate own = Der.certificate(alias, pair, alias, pair.getPrivate(), Der.AUTHORITY);
            identities.put(alias, new Identity(pair.getPrivate(), own));
        } else {
            Identity signer = identity(authority);
            X509Certificate signed = Der.certificate(alias, pair, authority, signer.key(), Der.LOCAL_NAMES);
            identities.put(alias, new Identity(pair.getPrivate(), signed, signer.chain()[0]));
        }
    }

    private Identity identity(String alias) {
        return Objects.requireNonNull(identities.get(alias), alias);
    }

    /**
     * Writes a certificate as PEM.
     *
     * @return the file
     */
    public Path certificate(String alias, Path file) {
        try {
            return Files.writeString(
                    file, pem("CERTIFICATE", identity(alias).chain()[0].getEncoded()));
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
                    file, pem("PRIVATE KEY", identity(alias).key().getEncoded()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String pem(String label, byte[] der) {
        return "-----BEGIN " + label + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der)
                + "\n-----END " + label + "-----\n";
    }

    /** Returns the TLS context of a server with the certificate {@code server}. */
    public SSLContext server() {
        return client("server");
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
            trusted.setCertificateEntry("ca", identity("ca").chain()[0]);
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(
                    alias == null ? new KeyManager[0] : new KeyManager[] {new FixedCertificate(alias, identity(alias))},
                    trust.getTrustManagers(),
                    null);
            return context;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Encodes certificates (RFC 5280), because the JDK has only a program for this, keytool, which takes a second for
     * each certificate.
     */
    private static final class Der {
        /** A critical extension basicConstraints: the certificate is that of an authority. */
        static final byte[] AUTHORITY = HexFormat.of().parseHex("300f0603551d130101ff040530030101ff");

        /** An extension subjectAltName: the address 127.0.0.1 and the name localhost. */
        static final byte[] LOCAL_NAMES =
                HexFormat.of().parseHex("301a0603551d11041330118704" + "7f000001" + "8209" + "6c6f63616c686f7374");

        private static final byte[] SHA256_WITH_ECDSA = HexFormat.of().parseHex("300a06082a8648ce3d040302");
        private static final byte[] VERSION_3 = HexFormat.of().parseHex("a003020102");
        private static final int SEQUENCE = 0x30;
        private static final int INTEGER = 0x02;
        private static final int BIT_STRING = 0x03;
        private static final int UTC_TIME = 0x17;
        private static final int EXTENSIONS = 0xa3;
        private static final DateTimeFormatter TIME =
                DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

        /** @param authorityKey an elliptic-curve key */
        static X509Certificate certificate(
                String subject, KeyPair pair, String authority, PrivateKey authorityKey, byte[] extension)
                throws GeneralSecurityException {
            Instant now = Instant.now();
            byte[] content = encode(
                    SEQUENCE,
                    VERSION_3,
                    encode(INTEGER, BigInteger.valueOf(System.nanoTime()).abs().toByteArray()),
                    SHA256_WITH_ECDSA,
                    new X500Principal("CN=" + authority).getEncoded(),
                    encode(SEQUENCE, time(now.minus(Duration.ofHours(1))), time(now.plus(Duration.ofDays(2)))),
                    new X500Principal("CN=" + subject).getEncoded(),
                    pair.getPublic().getEncoded(),
                    encode(EXTENSIONS, encode(SEQUENCE, extension)));
            Signature signature = Signature.getInstance("SHA256withECDSA");
            signature.initSign(authorityKey);
            signature.update(content);
            byte[] certificate =
                    encode(SEQUENCE, content, SHA256_WITH_ECDSA, encode(BIT_STRING, new byte[] {0}, signature.sign()));
            return (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(certificate));
        }

        private static byte[] time(Instant time) {
            return encode(UTC_TIME, TIME.format(time).getBytes(StandardCharsets.US_ASCII));
        }

        private static byte[] encode(int tag, byte[]... parts) {
            ByteArrayOutputStream content = new ByteArrayOutputStream();
            for (byte[] part : parts) {
                content.writeBytes(part);
            }
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            all.write(tag);
            int length = content.size();
            if (length < 128) {
                all.write(length);
            } else if (length < 256) {
                all.write(0x81);
                all.write(length);
            } else {
                all.write(0x82);
                all.write(length >> 8);
                all.write(length);
            }
            all.writeBytes(content.toByteArray());
            return all.toByteArray();
        }
    }

    /** A key manager that always presents the same certificate, even if the peer does not accept its authority. */
    private static final class FixedCertificate extends X509ExtendedKeyManager {
        private final String alias;
        private final Identity identity;

        FixedCertificate(String alias, Identity identity) {
            this.alias = alias;
            this.identity = identity;
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
            return new String[] {alias};
        }

        @Override
        public @Nullable String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
            return serverAlias(type);
        }

        @Override
        public @Nullable String chooseEngineServerAlias(String type, Principal[] issuers, SSLEngine engine) {
            return serverAlias(type);
        }

        private @Nullable String serverAlias(String type) {
            return type.equals(identity.key().getAlgorithm()) ? alias : null;
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            return identity.chain();
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            return identity.key();
        }
    }
}
