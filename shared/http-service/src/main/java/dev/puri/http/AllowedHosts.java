package dev.puri.http;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.util.NetUtil;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.HostAndPort;
import io.vertx.core.net.SocketAddress;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Checks the host of a request against the hosts that a listener accepts. This protects against DNS rebinding: a web
 * page can point its own host name at an address that only the visitor's machine reaches, and read responses from
 * there. Such requests have the page's name in their Host header.
 *
 * <p>A listener always accepts {@code localhost}, loopback addresses, the local address of the connection, and requests
 * without a host (HTTP/1.0), which browsers do not send. Confined to one event loop.
 */
final class AllowedHosts {
    private static final String ANY = "*";
    private static final int MAX_PORT = 65_535;

    private final boolean allowsAny;
    private final Set<String> names;

    /** The last accepted host, as the client sent it. Cached, because most requests have the same host. */
    private @Nullable String lastAllowed;

    private AllowedHosts(boolean allowsAny, Set<String> names) {
        this.allowsAny = allowsAny;
        this.names = names;
    }

    /**
     * Returns the hosts of the setting. Without the setting, a listener on a loopback address with neither tokens nor
     * TLS accepts no further hosts. Any other listener accepts all hosts: a web page has no token, the certificate does
     * not match the page's name, and other machines reach an address that is not loopback anyway.
     */
    static AllowedHosts of(ListenerOptions options) {
        HttpSettings http = options.http();
        Set<String> names = http.httpAllowedHosts().stream()
                .map(name -> name.equals(ANY) ? ANY : Objects.requireNonNull(parseHost(name)))
                .collect(Collectors.toUnmodifiableSet());
        boolean acceptsAllByDefault =
                http.auth().isOn() || http.tls().tlsCertificate().isPresent() || !isLoopback(options.host());
        return new AllowedHosts(names.isEmpty() ? acceptsAllByDefault : names.contains(ANY), names);
    }

    /** Returns whether the text is valid in the setting: a host without a port, or {@code *} for any host. */
    static boolean isValidSetting(String text) {
        boolean hasPort = text.startsWith("[") ? !text.endsWith("]") : text.indexOf(':') >= 0;
        return text.equals(ANY) || !hasPort && parseHost(text) != null;
    }

    private static boolean isLoopback(String boundHost) {
        try {
            return InetAddress.getByName(boundHost).isLoopbackAddress();
        } catch (UnknownHostException e) {
            // The listener cannot bind this host either.
            return false;
        }
    }

    /** Returns a problem if the request's target is malformed or its host is not allowed, otherwise null. */
    @Nullable
    Problem check(HttpServerRequest request) {
        String authority = authorityOf(request);
        String uri = request.uri();
        if (uri != null && !uri.startsWith("/") && !isWithoutPath(request.method(), uri)) {
            authority = authorityOfTarget(uri);
            if (authority == null) {
                return Problem.of(ProblemType.BAD_REQUEST, "The request target is neither a path nor an HTTP URL.");
            }
        }
        if (authority == null || authority.equals(lastAllowed)) {
            return null;
        }
        String host = parseHost(authority);
        if (host == null) {
            return Problem.of(
                    ProblemType.BAD_REQUEST, "The host must be a name or an address, with or without a port.");
        }
        if (!isAllowed(host, request.localAddress())) {
            return Problem.of(
                    ProblemType.MISDIRECTED,
                    "This listener does not serve the host \"" + host
                            + "\"; PURI_HTTP_ALLOWED_HOSTS lists the hosts that it serves in addition to localhost.");
        }
        lastAllowed = authority;
        return null;
    }

    /** Returns the host that the request names, possibly with a port; null if it names none. */
    private static @Nullable String authorityOf(HttpServerRequest request) {
        if (request.version() == HttpVersion.HTTP_2) {
            HostAndPort authority = request.authority();
            return authority == null ? null : authority.host();
        }
        return request.headers().get(HttpHeaderNames.HOST);
    }

    private static boolean isWithoutPath(HttpMethod method, String uri) {
        return method == HttpMethod.CONNECT || method == HttpMethod.OPTIONS && uri.equals("*");
    }

    /**
     * Returns the authority of a request target in absolute form, which overrides the Host header (RFC 9112, 3.2.2);
     * null if it is malformed.
     */
    private static @Nullable String authorityOfTarget(String uri) {
        int begin = uri.regionMatches(true, 0, "http://", 0, 7)
                ? 7
                : uri.regionMatches(true, 0, "https://", 0, 8) ? 8 : uri.length();
        int end = begin;
        while (end < uri.length() && uri.charAt(end) != '/' && uri.charAt(end) != '?') {
            end++;
        }
        String authority = uri.substring(begin, end);
        return parseHost(authority) == null ? null : authority;
    }

    /**
     * Returns the host of an authority, without the port; null if malformed (RFC 3986, 3.2.2). A name is in lower case,
     * and each IPv6 address has only one form.
     */
    private static @Nullable String parseHost(String authority) {
        int end = 0;
        if (authority.startsWith("[")) {
            end = authority.indexOf(']') + 1;
            String literal = authority.substring(1, Math.max(1, end - 1));
            if (!NetUtil.isValidIpV6Address(literal) || literal.indexOf('%') >= 0 || !isPort(authority, end)) {
                return null;
            }
            InetAddress address = Objects.requireNonNull(parseAddress(literal));
            // Java represents an IPv4-mapped address by the IPv4 address.
            String text = NetUtil.toAddressString(address);
            return address instanceof Inet6Address ? "[" + text + "]" : text;
        }
        while (end < authority.length() && isNameChar(authority.charAt(end))) {
            end++;
        }
        return end > 0 && isPort(authority, end) ? authority.substring(0, end).toLowerCase(Locale.ROOT) : null;
    }

    /** Returns the address of a literal, which may be in brackets; null if it is none. */
    private static @Nullable InetAddress parseAddress(String literal) {
        byte[] address = NetUtil.createByteArrayFromIpAddressString(literal);
        try {
            return address == null ? null : InetAddress.getByAddress(address);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address has 4 or 16 bytes", e);
        }
    }

    private static boolean isNameChar(char c) {
        return c >= 'a' && c <= 'z'
                || c >= 'A' && c <= 'Z'
                || c >= '0' && c <= '9'
                || "-._~%!$&'()*+,;=".indexOf(c) >= 0;
    }

    private static boolean isPort(String authority, int colon) {
        if (colon == authority.length()) {
            return true;
        }
        int port = 0;
        for (int i = colon + 1; i < authority.length(); i++) {
            char c = authority.charAt(i);
            port = c < '0' || c > '9' ? MAX_PORT + 1 : 10 * port + c - '0';
            if (port > MAX_PORT) {
                return false;
            }
        }
        return authority.charAt(colon) == ':';
    }

    private boolean isAllowed(String host, @Nullable SocketAddress local) {
        if (allowsAny || names.contains(host) || host.equals("localhost") || host.endsWith(".localhost")) {
            return true;
        }
        InetAddress requested = parseAddress(host);
        if (requested == null) {
            return false;
        }
        String localAddress = local == null ? null : local.hostAddress();
        return requested.isLoopbackAddress() || localAddress != null && requested.equals(parseAddress(localAddress));
    }
}
