import HTTPTypes
import JSON
import Lookups
import RateLimiting
import Tenancy

/// Holds requests to the limits of their key and of their client.
///
/// A client that is refused has used up nothing of its key's: one that asks too much does not take the key from others.
struct RequestLimiter: Sendable {
    /// For tenants that have none of their own.
    let defaults: RequestLimits
    private let keys = RateLimiter<TenantKey>()
    private let clients = RateLimiter<TenantClient>()
    /// Those that have brought a token of App Attest.
    private let installations = RateLimiter<TenantInstallation>()
    /// All of these of one address together.
    private let crowds = RateLimiter<TenantClient>()
    let newInstances: AdditionLimiter
    let newAttestKeys: AdditionLimiter
    /// Of those who have no valid key.
    private let strangers = RateLimiter<Client.Address>()
    /// Of those who read what needs no key.
    private let readers = RateLimiter<Reader>()
    private let pauses: Pause.Count
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - now: The clock, which a test can stop.
    ///   - sleep: Its other half.
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

    /// Counts a request of a key. A secret key is used by its tenant's servers, which are no clients in this sense.
    /// - Parameter installation: The ID of the key of App Attest that it came by: a client of its own, whatever its address; those
    ///   of one address together have ``crowd`` clients' limit, since one device can attest many keys.
    /// - Throws: 429 when a limit is reached.
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

    /// Counts more for a request that was admitted, because the response has cost more than one request does.
    /// - Returns: How the caller stands to its limits then.
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

    /// How many clients' limit the installations of one address have together. [ours]
    private static let crowd = 10

    /// What an installation has left; or its address, where that has nothing left.
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

    /// Counts a request of somebody who scanned a code, as those of a publishable key are.
    /// - Throws: 429 when the client sends too many of these.
    func admitVisitor(of host: LookupIndex.ProvedHost, from client: Client) throws(Problem) {
        guard let limit = (host.limits.client ?? defaults.client).counted else { return }
        let state = clients.take(
            TenantClient(tenant: host.tenant, address: client.address), limit, at: now())
        guard state.isAdmitted else {
            throw .rateLimited(
                by: .client, state, RequestAllowance(client: state), pauses.pause(for: client))
        }
    }

    // MARK: Strangers

    /// Counts a request without a valid key, or for what is not there: neither needs a key.
    /// - Throws: 429 when the client sends too many of these.
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
    /// - Parameter factor: How many times the usual limit holds.
    /// - Throws: 429 when the client sends too many of these.
    func admitReader(from client: Client, times factor: Int) throws(Problem) {
        guard let limit = defaults.client.counted?.times(factor) else { return }
        let state = readers.take(Reader(address: client.address, factor: factor), limit, at: now())
        guard state.isAdmitted else {
            throw .rateLimited(
                by: .client, state, RequestAllowance(client: state), pauses.pause(for: client))
        }
    }

    /// How many bytes of a document count as one request. [ours]
    private static let bytesOfRequest = 16_384

    /// Counts the length of a document, of which one request is counted already.
    func chargeReader(_ bytes: Int, from client: Client, times factor: Int) {
        let count = bytes / Self.bytesOfRequest
        guard count > 0, let limit = defaults.client.counted?.times(factor) else { return }
        _ = readers.charge(count, to: Reader(address: client.address, factor: factor), limit, at: now())
    }

    private struct Reader: Hashable {
        let address: Client.Address
        let factor: Int
    }

    /// The problem, with its answer held back where more of its kind cost more than what they ask for: too many at once, or a
    /// database that does not answer.
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

        /// An ID is random, so that one of two hashes as well as both.
        func hash(into hasher: inout Hasher) { hasher.combine(key) }
    }

    private struct TenantInstallation: Hashable {
        let tenant: TenantID
        /// The ID of its key of App Attest: a hash, of which nobody chooses whose place in a table it shares.
        let key: [UInt8]
    }

    private struct TenantClient: Hashable {
        let tenant: TenantID
        let address: Client.Address
    }
}

/// How much of its limits a request has left.
///
/// Told in the fields `RateLimit-Policy` and `RateLimit`. Source: IETF, draft-ietf-httpapi-ratelimit-headers-10.
struct RequestAllowance: Sendable, Equatable {
    var client: RateLimitState?
    var key: RateLimitState?

    var isLimited: Bool { client != nil || key != nil }

    /// Of either field's value.
    static var maximumLength: Int { 2 * (FieldValue.maximumItemLength + 2) }

    /// Each limit's name, how many requests it admits at once (`q`) and in how many seconds these are there again (`w`).
    func writePolicy(to bytes: UnsafeMutableBufferPointer<UInt8>) -> Int {
        list(to: bytes) { $0.write("q=", Int($1.limit.burst), ";w=", $1.limit.window) }
    }

    /// Of each limit, how many requests may follow at once (`r`), and in how many seconds all may again (`t`).
    func writeRemaining(to bytes: UnsafeMutableBufferPointer<UInt8>) -> Int {
        list(to: bytes) { $0.write("r=", $1.remaining, ";t=", $1.secondsUntilFull) }
    }

    /// Made with each answer, where it is to stand.
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
        /// A name, two parameters' names and two numbers.
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
    /// By the name that a refusal tells.
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

    /// What one tenant has under way at once is limited too, where requests wait for anything.
    static let tooManyAtOnce = Problem(
        .tooManyRequests, "rate_limited",
        "too many requests of the tenant or the client are running at once",
        members: ["limit": "concurrency", "retryAfter": 1], headers: [.retryAfter: "1"])
}
