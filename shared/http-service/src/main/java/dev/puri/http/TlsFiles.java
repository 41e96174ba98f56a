package dev.puri.http;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.ServerSSLOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.X509KeyManager;
import org.jspecify.annotations.Nullable;

/**
 * Reads and checks the files of a listener's certificate, key and trusted authorities. If a renewed file is invalid,
 * {@link #read} throws; the listener then logs the error and continues with the previous certificate.
 */
final class TlsFiles {
    /** TLS 1.0 and 1.1 are excluded, because RFC 8996 deprecates them. */
    private static final Set<String> PROTOCOLS = Set.of("TLSv1.3", "TLSv1.2");

    private final Path certificate;
    private final Path key;
    private final Optional<Path> clientCa;
    private final ClientAuth clientAuth;
    private final Duration handshakeTimeout;

    private TlsFiles(Path certificate, Path key, TlsSettings settings, Duration handshakeTimeout) {
        this.certificate = certificate;
        this.key = key;
        this.clientCa = settings.tlsClientCa();
        this.clientAuth = switch (settings.tlsClientAuth()) {
            case "required" -> ClientAuth.REQUIRED;
            case "request" -> ClientAuth.REQUEST;
            default -> ClientAuth.NONE;
        };
        this.handshakeTimeout = handshakeTimeout;
    }

    /** Returns the files that the settings name; null if TLS is off. */
    static @Nullable TlsFiles of(TlsSettings settings, Duration handshakeTimeout) {
        Path certificate = settings.tlsCertificate().orElse(null);
        Path key = settings.tlsKey().orElse(null);
        return certificate == null || key == null ? null : new TlsFiles(certificate, key, settings, handshakeTimeout);
    }

    /**
     * Reads the files. The results of two calls are equal if the files have not changed.
     *
     * @throws UnusableFileException if a file is unusable, or if key and certificate do not match
     */
    ServerSSLOptions read(Vertx vertx) throws UnusableFileException {
        Buffer certificateBytes = bytes("PURI_TLS_CERTIFICATE", certificate);
        PemKeyCertOptions pair =
                new PemKeyCertOptions().setCertValue(certificateBytes).setKeyValue(bytes("PURI_TLS_KEY", key));
        requireMatch(pair, firstCertificate("PURI_TLS_CERTIFICATE", certificate, certificateBytes), vertx);
        ServerSSLOptions options = new ServerSSLOptions()
                .setKeyCertOptions(pair)
                .setClientAuth(clientAuth)
                .setUseAlpn(true)
                .setEnabledSecureTransportProtocols(PROTOCOLS)
                .setSslHandshakeTimeout(handshakeTimeout.toMillis())
                .setSslHandshakeTimeoutUnit(TimeUnit.MILLISECONDS);
        if (clientCa.isPresent()) {
            Buffer authorities = bytes("PURI_TLS_CLIENT_CA", clientCa.get());
            // Checks that the file has a certificate.
            X509Certificate ignored = firstCertificate("PURI_TLS_CLIENT_CA", clientCa.get(), authorities);
            options.setTrustOptions(new PemTrustOptions().addCertValue(authorities));
        }
        return options;
    }

    private static Buffer bytes(String setting, Path file) throws UnusableFileException {
        try {
            return Buffer.buffer(Files.readAllBytes(file));
        } catch (IOException e) {
            throw new UnusableFileException(setting + ": the file " + file + " cannot be read: " + e, e);
        }
    }

    /**
     * Returns the first certificate of the file. In PURI_TLS_CERTIFICATE it is that of the server; intermediate
     * certificates follow.
     */
    private static X509Certificate firstCertificate(String setting, Path file, Buffer pem)
            throws UnusableFileException {
        try {
            var found = CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(pem.getBytes()))
                    .iterator();
            if (found.hasNext() && found.next() instanceof X509Certificate first) {
                return first;
            }
        } catch (GeneralSecurityException e) {
            throw new UnusableFileException(
                    setting + ": the file " + file + " is not a PEM file of certificates: " + e, e);
        }
        throw new UnusableFileException(setting + ": the file " + file + " contains no certificate", null);
    }

    /**
     * Checks that the key belongs to the certificate: signs a message with the key and verifies the signature with the
     * certificate.
     */
    private void requireMatch(PemKeyCertOptions pair, X509Certificate server, Vertx vertx)
            throws UnusableFileException {
        String algorithm = server.getPublicKey().getAlgorithm();
        try {
            PrivateKey privateKey = findPrivateKey(pair, algorithm, vertx);
            byte[] message = {1, 2, 3};
            String signatureAlgorithm = switch (algorithm) {
                case "RSA" -> "SHA256withRSA";
                case "EC" -> "SHA256withECDSA";
                default -> algorithm;
            };
            Signature signature = Signature.getInstance(signatureAlgorithm);
            signature.initSign(privateKey);
            signature.update(message);
            byte[] signatureBytes = signature.sign();
            signature.initVerify(server.getPublicKey());
            signature.update(message);
            if (signature.verify(signatureBytes)) {
                return;
            }
        } catch (Exception e) {
            throw new UnusableFileException(
                    "PURI_TLS_KEY: the private key in " + key + " cannot be used with the certificate in " + certificate
                            + ", whose algorithm is " + algorithm + ": " + e.getMessage(),
                    e);
        }
        throw new UnusableFileException("PURI_TLS_KEY: the key in " + key + " does not belong to " + certificate, null);
    }

    private static PrivateKey findPrivateKey(PemKeyCertOptions pair, String algorithm, Vertx vertx) throws Exception {
        for (KeyManager manager : pair.getKeyManagerFactory(vertx).getKeyManagers()) {
            if (manager instanceof X509KeyManager keys) {
                String[] aliases = keys.getServerAliases(algorithm, null);
                if (aliases != null && aliases.length > 0) {
                    return keys.getPrivateKey(aliases[0]);
                }
            }
        }
        throw new GeneralSecurityException("the file has no key of this algorithm");
    }
}
