public import APNsPayload
import Formats
public import Foundation
public import Logging
import Metrics
public import NIOCore
import NIOHPACK
public import NIOPosix
import NIOSSL
public import Notifications
public import ServiceLifecycle
import Synchronization
public import Tenancy
import Tracing

/// Sends requests to APNs over HTTP/2, authenticated by provider tokens.
///
/// Each team has its own connections to each environment, on one event loop. They are opened when needed, kept as long as APNs
/// keeps them, and never used by another team. A topic-specific key has its own connections. Requests without room on a
/// connection wait in order.
///
/// It uses swift-nio-http2 instead of async-http-client, which hides facts that decide a result: how many streams APNs allows
/// at the moment, which of them a GOAWAY excludes, and whether a failed request was written.
///
/// A request that was written without a response is `.unanswered`, and never sent again here. A request that APNs did not
/// accept, by a GOAWAY, is sent again automatically.
public final class APNsClient: PushSender, ChannelManager, Service {
    private let settings: Settings
    private let tokens: ProviderTokens
    private let tls: NIOSSLContext
    private let group: any EventLoopGroup
    private let logger: Logger
    private let now: @Sendable () -> Date
    private let contents = Mutex(Contents())
    private let counters: OutcomeCounters

    private struct Contents {
        var pools: [Place: NIOLoopBoundBox<ConnectionPool>] = [:]
        var isShutDown = false
    }

    private struct Place: Hashable {
        let key: ProviderTokens.Place
        let isForChannels: Bool
    }

    /// - Parameters:
    ///   - keys: A request of a team without a key for the environment gets the outcome `.notSent(.noKey)`.
    ///   - group: The event loops of the connections. The client does not shut it down.
    ///   - now: The time of day, for provider tokens.
    ///   - uptime: A monotonic clock, for the age of provider tokens.
    /// - Throws: `APNsClientError.unusableAuthorities`.
    public init(
        _ settings: Settings, keys: [APNsKey],
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        logger: Logger, now: @escaping @Sendable () -> Date = { Date() },
        uptime: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) throws(APNsClientError) {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.applicationProtocols = ["h2"]
        configuration.minimumTLSVersion = .tlsv12
        do {
            if let file = settings.authorities {
                configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(file))
            }
            tls = try NIOSSLContext(configuration: configuration)
        } catch {
            throw .unusableAuthorities(settings.authorities ?? "the system's store")
        }
        self.settings = settings
        self.group = group
        self.logger = logger
        self.now = now
        tokens = ProviderTokens(keys, now: now, uptime: uptime)
        counters = OutcomeCounters()
    }

    /// Replaces the keys. If a team has another key than before, its connections are closed after their responses, because a
    /// connection is for one key. [Apple]
    public func replaceKeys(_ keys: [APNsKey]) {
        contents.withLock { contents in
            let before = contents.pools.keys.map { ($0, tokens.key(at: $0.key)) }
            tokens.replaceKeys(keys)
            for (place, key) in before where key?.isSame(as: tokens.key(at: place.key)) != true {
                guard let pool = contents.pools[place] else { continue }
                pool.eventLoop.execute { pool.value.leaveAll() }
            }
        }
    }

    /// Runs until shutdown is requested; then until all responses have arrived, or the time is over.
    public func run() async {
        try? await gracefulShutdown()
        await shutDown()
    }

    /// Refuses unwritten requests, waits for the responses to the others, and closes the connections.
    public func shutDown() async {
        let pools = contents.withLock { contents in
            contents.isShutDown = true
            return Array(contents.pools.values)
        }
        for pool in pools {
            let promise = pool.eventLoop.makePromise(of: Void.self)
            pool.eventLoop.execute { pool.value.shutDown(promise) }
            try? await promise.futureResult.get()
        }
    }

    /// For tests: ends the requests that would time out after this time, without waiting for it.
    func expire(after time: Duration) async {
        for pool in contents.withLock({ Array($0.pools.values) }) {
            try? await pool.eventLoop.submit { pool.value.expire(at: .now() + TimeAmount(time)) }.get()
        }
    }

    /// The number of requests that wait for a stream. For tests.
    var waiting: Int {
        get async {
            var count = 0
            for pool in contents.withLock({ Array($0.pools.values) }) {
                count += (try? await pool.eventLoop.submit { pool.value.waitingCount }.get()) ?? 0
            }
            return count
        }
    }

    // MARK: Notifications

    /// Sends a notification or a broadcast.
    ///
    /// A cancelled task changes nothing: a written request cannot be recalled, and its result counts.
    public func send(_ request: PushRequest) async -> PushOutcome {
        guard let tracer = settings.tracer else { return await sendUntraced(request) }
        let span = tracer.startSpan("APNs POST", ofKind: .client)
        defer { span.end() }
        span.attributes["server.address"] =
            settings.address(request.environment, isForChannels: false).host
        let outcome = await sendUntraced(request)
        let failure: String?
        switch outcome {
        case .answered(let response):
            span.attributes["http.response.status_code"] = response.status
            failure = response.status == 200 ? nil : response.reason?.rawValue ?? "\(response.status)"
        case .notSent(let reason), .unanswered(let reason): failure = reason.rawValue
        }
        if let failure {
            span.attributes["error.type"] = failure
            span.setStatus(.init(code: .error))
        }
        return outcome
    }

    private func sendUntraced(_ request: PushRequest) async -> PushOutcome {
        let outcome: PushOutcome
        let key = tokens.place(
            for: request.headers.bundleID, of: request.team, in: request.environment)
        let authority = settings.address(request.environment, isForChannels: false).authority
        switch await exchange(
            at: Place(key: key, isForChannels: false), of: request.tenant,
            OutgoingRequest(request, authority: authority))
        {
        case .answered(let response): outcome = .answered(response.response(now: now()))
        case .notSent(let failure): outcome = .notSent(failure)
        case .unanswered(let failure): outcome = .unanswered(failure)
        }
        counters.count(outcome, in: request.environment)
        return outcome
    }

    /// Sends a request, and again on another connection when APNs refused the connection's provider token: for its age,
    /// for a key that the connection is not for ("To use this token, open a new connection" [Apple]), or because it
    /// followed another too soon on that connection. All attempts have the same time.
    private func exchange(
        at place: Place, of tenant: TenantID?, _ request: OutgoingRequest
    ) async -> ExchangeOutcome {
        guard tokens.key(at: place.key) != nil else { return .notSent(.noKey) }
        guard let pool = pool(at: place) else { return .notSent(.shuttingDown) }
        let deadline = NIODeadline.now() + TimeAmount(settings.requestTimeout)
        // Each repetition leaves a connection: after so many, the last attempt is on one that was opened for it.
        for _ in 0..<max(1, settings.connections) {
            let outcome = await send(request, of: tenant, in: pool, before: deadline)
            guard case .answered(let response) = outcome, NIODeadline.now() < deadline else { return outcome }
            switch (response.status, response.reason) {
            case (403, APNsReason.expiredProviderToken):
                // If no other connection exists, a new one is no better than this one.
                guard let token = response.token, tokens.isReplaceable(token, at: place.key) else {
                    return outcome
                }
                pool.eventLoop.execute { pool.value.leave(showing: token) }
            case (403, APNsReason.unrelatedKeyIdInToken), (429, APNsReason.tooManyProviderTokenUpdates):
                pool.eventLoop.execute { pool.value.leave(response.connection) }
            default: return outcome
            }
        }
        return await send(request, of: tenant, in: pool, before: deadline)
    }

    private func send(
        _ request: OutgoingRequest, of tenant: TenantID?, in pool: NIOLoopBoundBox<ConnectionPool>,
        before deadline: NIODeadline
    ) async -> ExchangeOutcome {
        await withCheckedContinuation { continuation in
            pool.eventLoop.execute {
                pool.value.send(request, of: tenant, deadline: deadline, continuation)
            }
        }
    }

    private func pool(at place: Place) -> NIOLoopBoundBox<ConnectionPool>? {
        contents.withLock { contents in
            if contents.isShutDown { return nil }
            if let pool = contents.pools[place] { return pool }
            let address = settings.address(place.key.environment, isForChannels: place.isForChannels)
            var logger = logger
            logger[metadataKey: "host"] = "\(address.host)"
            logger[metadataKey: "team"] = "\(place.key.team)"
            let eventLoop = group.next()
            let pool = NIOLoopBoundBox.makeBoxSendingValue(
                ConnectionPool(
                    address: address, settings: settings, tls: tls,
                    metrics: PoolMetrics(place.key.environment),
                    tokens: tokens, place: place.key, logger: logger, eventLoop: eventLoop),
                eventLoop: eventLoop)
            contents.pools[place] = pool
            return pool
        }
    }

    // MARK: Channels

    public func createChannel(
        of bundleID: BundleID, team: TeamID, environment: APNsEnvironment, storesLastMessage: Bool
    ) async -> ChannelOutcome<String> {
        await manage(bundleID, team, environment) { authority in
            OutgoingRequest(
                channels: "POST", of: bundleID,
                body: ["message-storage-policy": storesLastMessage ? 1 : 0, "push-type": "LiveActivity"],
                authority: authority)
        } reading: { response in
            response.headers.first(name: "apns-channel-id")
        }
    }

    public func channels(
        of bundleID: BundleID, team: TeamID, environment: APNsEnvironment
    ) async -> ChannelOutcome<[String]> {
        await manage(bundleID, team, environment) { authority in
            OutgoingRequest(
                channels: "GET", of: bundleID, path: "all-channels", authority: authority)
        } reading: { response in
            let object = (try? JSONValue(parsing: response.body))?.objectValue
            guard let values = object?["channels"]?.arrayValue else { return nil }
            let ids = values.compactMap(\.stringValue)
            return ids.count == values.count ? ids : nil
        }
    }

    public func deleteChannel(
        _ id: String, of bundleID: BundleID, team: TeamID, environment: APNsEnvironment
    ) async -> ChannelOutcome<ChannelDeleted> {
        await manage(bundleID, team, environment) { authority in
            OutgoingRequest(
                channels: "DELETE", of: bundleID, fields: [("apns-channel-id", id)], authority: authority)
        } reading: { _ in
            ChannelDeleted()
        }
    }

    private func manage<Value>(
        _ bundleID: BundleID, _ team: TeamID, _ environment: APNsEnvironment,
        _ request: (_ authority: String) -> OutgoingRequest, reading read: (Response) -> Value?
    ) async -> ChannelOutcome<Value> {
        let place = Place(
            key: tokens.place(for: bundleID.text, of: team, in: environment), isForChannels: true)
        let authority = settings.address(environment, isForChannels: true).authority
        switch await exchange(at: place, of: nil, request(authority)) {
        case .answered(let response):
            if (200..<300).contains(response.status), let value = read(response) { return .done(value) }
            return .refused(response.response(now: now()))
        case .notSent(let failure): return .notSent(failure)
        case .unanswered(let failure): return .unanswered(failure)
        }
    }
}

extension APNsClient.Address {
    /// The authority of a request. It omits the default port of https (RFC 9113 §8.3.1).
    fileprivate var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? name : "\(name):\(port)"
    }
}
