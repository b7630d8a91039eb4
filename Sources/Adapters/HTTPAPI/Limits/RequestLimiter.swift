import Formats
import HTTPTypes
import Lookups
import Tenancy

/// Applies the rate limits of keys and clients.
///
/// A request that the client's limit refuses does not count against the key's limit, so that one client cannot exhaust the key.
struct RequestLimiter: Sendable {
    /// The limits of tenants without their own limits.
    let defaults: RequestLimits
    private let keys = RateLimiter<TenantKey>()
    private let clients = RateLimiter<TenantClient>()
    /// Installations with a token of App Attest.
    private let installations = RateLimiter<TenantInstallation>()
    /// All attested installations of an address together.
    private let crowds = RateLimiter<TenantClient>()
    let newInstances: AdditionLimiter
    let newAttestKeys: AdditionLimiter
    /// Clients without a valid key.
    private let strangers = RateLimiter<Client.Address>()
    /// Clients that read documents that need no key.
    private let readers = RateLimiter<Reader>()
    private let pauses: Pause.Count
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - now: The current time; a test can replace it.
    ///   - sleep: Waits; a test can replace it.
    init(
        defaults: RequestLimits, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (Duration) async -> Void = Pause.sleep
    ) {
        self.defaults = defaults
        newInstances = AdditionLimiter(.instances, defaults: defaults, now: now)
        newAttestKeys = AdditionLimiter(.attestKeys, defaults: defaults, now: now)
        self.now = now
        pauses = Pause.Count(sleep: sleep)
    }

    /// Counts a request of a key. Requests of secret keys have no client limit, because they come from the tenant's servers.
    /// - Parameter installation: The ID of the attested key of App Attest. It is a separate client, at any address. All
    ///   installations of an address together have the limit of ``crowd`` clients, because one device can attest many keys.
    /// - Throws: 429 if a limit is reached.
    func admit(
        _ caller: KeyHolder, from client: Client, by installation: [UInt8]? = nil
    ) throws(Problem) -> RequestAllowance {
        let now = now()
        var standing = RequestAllowance()
        if caller.kind == .publishable, let limit = (caller.limits.client ?? defaults.client).counted {
            let address = TenantClient(tenant: caller.tenant, address: client.address)
            let state =
                if let installation {
                    take(
                        TenantInstallation(tenant: caller.tenant, key: installation), of: address, limit,
                        at: now)
                } else {
                    clients.take(address, limit, at: now)
                }
            standing.client = state
            guard state.isAdmitted else {
                throw .rateLimited(by: .client, state, standing, pauses.pause(for: client))
            }
        }
        if let limit = (caller.limits.key ?? defaults.key).counted {
            let state = keys.take(TenantKey(tenant: caller.tenant, key: caller.key), limit, at: now)
            standing.key = state
            guard state.isAdmitted else {
                throw .rateLimited(by: .key, state, standing, pauses.pause(for: client))
            }
        }
        return standing
    }

    /// Counts further requests for an admitted request whose response costs more than one request.
    /// - Returns: The caller's remaining requests.
    func charge(
        _ count: Int, to caller: KeyHolder, from client: Client, by installation: [UInt8]? = nil
    ) -> RequestAllowance {
        let now = now()
        var standing = RequestAllowance()
        if caller.kind == .publishable, let limit = (caller.limits.client ?? defaults.client).counted {
            let address = TenantClient(tenant: caller.tenant, address: client.address)
            if let installation {
                standing.client = installations.charge(
                    count, to: TenantInstallation(tenant: caller.tenant, key: installation), limit, at: now)
                _ = crowds.charge(count, to: address, limit.times(Self.crowd), at: now)
            } else {
                standing.client = clients.charge(count, to: address, limit, at: now)
            }
        }
        if let limit = (caller.limits.key ?? defaults.key).counted {
            standing.key = keys.charge(
                count, to: TenantKey(tenant: caller.tenant, key: caller.key), limit, at: now)
        }
        return standing
    }

    /// The installations of one address together have the limit of this many clients. [ours]
    private static let crowd = 10

    /// Counts a request of an installation. Returns the state of the installation's limit, or of the address's limit if that is
    /// reached.
    private func take(
        _ installation: TenantInstallation, of address: TenantClient, _ limit: RateLimit,
        at now: ContinuousClock.Instant
    ) -> RateLimitState {
        let state = installations.take(installation, limit, at: now)
        guard state.isAdmitted else { return state }
        let crowd = crowds.take(address, limit.times(Self.crowd), at: now)
        guard crowd.isAdmitted else {
            installations.giveBack(installation, limit)
            return crowd
        }
        return state
    }

    /// Counts a visitor's request of a landing page like a request of a publishable key.
    /// - Throws: 429 if the client's limit is reached.
    func admitVisitor(of host: LookupIndex.ProvedHost, from client: Client) throws(Problem) {
        guard let limit = (host.limits.client ?? defaults.client).counted else { return }
        let state = clients.take(
            TenantClient(tenant: host.tenant, address: client.address), limit, at: now())
        guard state.isAdmitted else {
            throw .rateLimited(
                by: .client, state, RequestAllowance(client: state), pauses.pause(for: client))
        }
    }

    // MARK: Requests without a key

    /// Counts a request without a valid key, or for a path or method that does not exist.
    /// - Throws: 429 if the client's limit is reached.
    func admitAnonymous(from client: Client) throws(Problem) {
        guard let limit = defaults.client.counted else { return }
        let state = strangers.take(client.address, limit, at: now())
        guard state.isAdmitted else {
            throw .rateLimited(
                by: .client, state, RequestAllowance(client: state), pauses.pause(for: client))
        }
    }

    // MARK: Documents for everyone

    /// Counts a request for a document that needs no key.
    /// - Parameter factor: The factor by which the usual limit is multiplied.
    /// - Throws: 429 if the client's limit is reached.
    func admitReader(from client: Client, times factor: Int) throws(Problem) {
        guard let limit = defaults.client.counted?.times(factor) else { return }
        let state = readers.take(Reader(address: client.address, factor: factor), limit, at: now())
        guard state.isAdmitted else {
            throw .rateLimited(
                by: .client, state, RequestAllowance(client: state), pauses.pause(for: client))
        }
    }

    /// The bytes of a document that count as one request. [ours]
    private static let bytesOfRequest = 16_384

    /// Counts the length of a document whose request has been counted.
    func chargeReader(_ bytes: Int, from client: Client, times factor: Int) {
        let count = bytes / Self.bytesOfRequest
        guard count > 0, let limit = defaults.client.counted?.times(factor) else { return }
        _ = readers.charge(count, to: Reader(address: client.address, factor: factor), limit, at: now())
    }

    private struct Reader: Hashable {
        let address: Client.Address
        let factor: Int
    }

    /// The problem, with a delay if too many requests run at once or the database does not respond (see ``Pause``).
    func holdingBack(_ problem: Problem, from client: Client) -> Problem {
        guard problem.pause == nil,
            problem.status == .tooManyRequests || problem.code == Problem.unavailable.code
        else { return problem }
        var problem = problem
        problem.pause = pauses.pause(for: client)
        return problem
    }

    private struct TenantKey: Hashable {
        let tenant: TenantID
        let key: KeyID

        /// Hashes only the ID, which is a SHA-256 and therefore well distributed.
        func hash(into hasher: inout Hasher) { hasher.combine(key) }
    }

    private struct TenantInstallation: Hashable {
        let tenant: TenantID
        /// The ID of the installation's key of App Attest. It is a SHA-256, so clients cannot choose IDs that collide in a table.
        let key: [UInt8]
    }

    private struct TenantClient: Hashable {
        let tenant: TenantID
        let address: Client.Address
    }
}

/// The caller's remaining requests.
///
/// Responses show them in the fields `RateLimit-Policy` and `RateLimit`. Source: IETF, draft-ietf-httpapi-ratelimit-headers-10.
struct RequestAllowance: Sendable, Equatable {
    var client: RateLimitState?
    var key: RateLimitState?

    var isLimited: Bool { client != nil || key != nil }

    /// The longest value of either field.
    static var maximumLength: Int { 2 * (FieldValue.maximumItemLength + 2) }

    /// Writes each limit's name, the requests that it admits at once (`q`), and the seconds until all are available again (`w`).
    func writePolicy(to bytes: UnsafeMutableBufferPointer<UInt8>) -> Int {
        list(to: bytes) { $0.write("q=", Int($1.limit.burst), ";w=", $1.limit.window) }
    }

    /// Writes each limit's name, the remaining requests (`r`), and the seconds until all are available again (`t`).
    func writeRemaining(to bytes: UnsafeMutableBufferPointer<UInt8>) -> Int {
        list(to: bytes) { $0.write("r=", $1.remaining, ";t=", $1.secondsUntilFull) }
    }

    /// Writes the list directly into the response's header, because most responses have it.
    @inline(__always)
    private func list(
        to bytes: UnsafeMutableBufferPointer<UInt8>, _ write: (inout FieldValue, RateLimitState) -> Void
    ) -> Int {
        var value = FieldValue(bytes)
        if let client {
            value.write("\"client\";")
            write(&value, client)
        }
        if let key {
            value.write(client == nil ? "\"key\";" : ", \"key\";")
            write(&value, key)
        }
        return value.count
    }

    private struct FieldValue {
        /// The length of a name, two parameters' names and two numbers.
        static let maximumItemLength = 64

        private let bytes: UnsafeMutableBufferPointer<UInt8>
        private(set) var count = 0

        init(_ bytes: UnsafeMutableBufferPointer<UInt8>) {
            self.bytes = bytes
        }

        mutating func write(_ text: StaticString) {
            text.withUTF8Buffer {
                for byte in $0 {
                    bytes[count] = byte
                    count += 1
                }
            }
        }

        mutating func write(_ first: StaticString, _ value: Int, _ second: StaticString, _ time: Int) {
            write(first)
            write(value)
            write(second)
            write(time)
        }

        private mutating func write(_ number: Int) { count = bytes.writeDecimal(number, at: count) }
    }
}

extension Problem {
    /// The limits, by their names in problems.
    enum Limit: String {
        case client, key
        case clientNewInstances = "client_new_instances"
        case newInstances = "new_instances"
        case clientNewAttestKeys = "client_new_attest_keys"
        case newAttestKeys = "new_attest_keys"

        fileprivate var detail: String {
            switch self {
            case .client: "this client has sent more requests than its limit allows"
            case .key: "this key exceeds its rate limit"
            case .clientNewInstances: "this client adds more instances than its limit allows"
            case .newInstances: "the tenant gets more new instances than its limit allows"
            case .clientNewAttestKeys: "this client attests more keys than its limit allows"
            case .newAttestKeys: "the tenant gets more attested keys than its limit allows"
            }
        }
    }

    static func rateLimited(
        by limit: Limit, _ state: RateLimitState, _ standing: RequestAllowance = RequestAllowance(),
        _ pause: Pause? = nil
    ) -> Problem {
        var problem = Problem(
            .tooManyRequests, "rate_limited", limit.detail,
            members: ["limit": .string(limit.rawValue), "retryAfter": JSONValue(state.secondsUntilNext)],
            headers: [.retryAfter: String(state.secondsUntilNext)])
        problem.standing = standing
        problem.pause = pause
        return problem
    }

    /// Refuses a request because too many of its tenant's or client's requests wait for bodies or the database.
    static let tooManyAtOnce = Problem(
        .tooManyRequests, "rate_limited",
        "too many requests of the tenant or the client are running at once",
        members: ["limit": "concurrency", "retryAfter": 1], headers: [.retryAfter: "1"])

    static let tooManyDownloads = Problem(
        .tooManyRequests, "rate_limited",
        "the server sends too many images at once to send another one of this tenant",
        members: ["limit": "concurrency", "retryAfter": 1], headers: [.retryAfter: "1"])
}
