import AsyncHTTPClient
import Formats
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Platform

/// Clients by host, each bound to one checked address: a name may resolve to another address the next time, so the checked
/// address must be the one that is used.
actor BoundHosts {
    /// The addresses of a host as texts, in the order of attempts.
    typealias Resolver = @Sendable (String) async throws -> [String]

    private final class Bound {
        let client: HTTPClient
        let address: String
        let end: ContinuousClock.Instant
        var userCount = 0
        var isRetired = false

        init(_ client: HTTPClient, _ address: String, until end: ContinuousClock.Instant) {
            self.client = client
            self.address = address
            self.end = end
        }
    }

    /// For how long a host is known by the address it had.
    private static let lifetime = Duration.seconds(60)
    /// The maximum number of unused hosts that are kept.
    private static let maximumIdleCount = 64
    /// The maximum number of a host's addresses to try.
    private static let maximumTries = 4

    private let settings: OutboundClient.Settings
    private let resolver: Resolver
    /// Addresses by host that are not checked.
    private let detours: [String: String]
    private var hosts: [String: Bound] = [:]
    private var closing: [ObjectIdentifier: Task<Void, Never>] = [:]

    init(_ settings: OutboundClient.Settings, resolver: @escaping Resolver, detours: [String: String]) {
        self.settings = settings
        self.resolver = resolver
        self.detours = detours
    }

    /// Provides the client of a host, and that of its next address if the first does not respond.
    /// - Throws: ``OutboundError`` if no address of the host may be connected to.
    func withClient<Result: Sendable>(
        for host: String, _ body: @Sendable (HTTPClient) async throws -> Result
    ) async throws -> Result {
        var deserted: Set<String> = []
        while true {
            let bound = try await bound(to: host, except: deserted)
            bound.userCount += 1
            defer {
                bound.userCount -= 1
                if bound.isRetired { closeIfUnused(bound) }
            }
            do {
                return try await body(bound.client)
            } catch  where Self.isUnreached(error) {
                deserted.insert(bound.address)
                if hosts[host] === bound { retire(host) }
                guard try await addresses(of: host).contains(where: { !deserted.contains($0) }) else {
                    throw error
                }
            }
        }
    }

    /// Whether nothing was sent because there was no connection.
    private static func isUnreached(_ error: any Error) -> Bool {
        switch error {
        case let error as IOError:
            [ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL].contains(error.errnoCode)
        case let error as HTTPClientError: error == .connectTimeout
        default: false
        }
    }

    private func bound(to host: String, except deserted: Set<String>) async throws -> Bound {
        if let known = current(host), !deserted.contains(known.address) { return known }
        let addresses = try await addresses(of: host)
        // Another request may have resolved the same host meanwhile.
        if let known = current(host), !deserted.contains(known.address) { return known }
        guard let address = addresses.first(where: { !deserted.contains($0) }) else {
            throw OutboundError.noAddress
        }
        retire(host)
        let bound = Bound(client(for: host, at: address), address, until: .now + Self.lifetime)
        let idle = hosts.filter { $0.value.userCount == 0 }
        if idle.count >= Self.maximumIdleCount { idle.keys.forEach(retire) }
        hosts[host] = bound
        return bound
    }

    private func current(_ host: String) -> Bound? {
        guard let known = hosts[host] else { return nil }
        if known.end > .now { return known }
        retire(host)
        return nil
    }

    private func client(for host: String, at address: String) -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.dnsOverride = [host: address]
        var tls = TLSConfiguration.makeClientConfiguration()
        // RFC 8996: earlier versions must not be used.
        tls.minimumTLSVersion = .tlsv12
        if let authorities = settings.authorities { tls.trustRoots = .file(authorities) }
        configuration.tlsConfiguration = tls
        // A connection that fails is tried again and again otherwise, and the reason is lost.
        configuration.connectionPool.retryConnectionEstablishment = false
        if let budget = settings.responseBudget {
            // Frames of HTTP/2 have no such budget, and a server sends as many as it likes.
            configuration.httpVersion = .http1Only
            configuration.http1_1ConnectionDebugInitializer = { ResponseBudget.add(budget, to: $0) }
        }
        return HTTPClient(
            eventLoopGroupProvider: .shared(Self.eventLoops(for: settings)), configuration: configuration)
    }

    /// For servers that a tenant names, so that their responses do not delay the requests of clients.
    private static let ownEventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    static func eventLoops(for settings: OutboundClient.Settings) -> MultiThreadedEventLoopGroup {
        settings.responseBudget == nil ? .singleton : ownEventLoops
    }

    // MARK: Addresses

    /// The addresses that may be connected to.
    private func addresses(of host: String) async throws -> [String] {
        if let detour = detours[host] { return [detour] }
        let literal = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        let addresses = IPAddress(literal) == nil ? try await resolver(host) : [literal]
        guard let first = addresses.first else { throw OutboundError.noAddress }
        let permitted = addresses.filter(permits).prefix(Self.maximumTries)
        guard !permitted.isEmpty else { throw OutboundError.notPublic(first) }
        return Array(permitted)
    }

    private func permits(_ text: String) -> Bool {
        guard let address = IPAddress(text) else { return false }
        return address.isPublic || settings.allowed.contains { $0.contains(address) }
    }

    /// The system's: /etc/hosts, DNS (getaddrinfo(3)). An unresponsive name server blocks this for longer than a request waits,
    /// so the call is left behind.
    static let systemResolver: Resolver = { host in
        let addresses = await Thread.result { () throws(OutboundError) in try systemAddresses(of: host) }
        guard let addresses else { throw CancellationError() }
        return try addresses.get()
    }

    private static func systemAddresses(of host: String) throws(OutboundError) -> [String] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &first) == 0 else { throw OutboundError.noAddress }
        defer { freeaddrinfo(first) }
        return sequence(first: first, next: { $0?.pointee.ai_next }).compactMap { entry in
            guard let entry = entry?.pointee else { return nil }
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            guard
                getnameinfo(
                    entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
                    == 0
            else { return nil }
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    // MARK: Ends

    private func retire(_ host: String) {
        guard let bound = hosts.removeValue(forKey: host) else { return }
        bound.isRetired = true
        closeIfUnused(bound)
    }

    private func closeIfUnused(_ bound: Bound) {
        guard bound.userCount == 0 else { return }
        let client = bound.client
        closing[ObjectIdentifier(client)] = Task {
            try? await client.shutdown()
            closing[ObjectIdentifier(client)] = nil
        }
    }

    /// Closes all connections. Call it when no request is running.
    func shutDown() async {
        hosts.keys.forEach(retire)
        while let task = closing.values.first { await task.value }
    }
}
