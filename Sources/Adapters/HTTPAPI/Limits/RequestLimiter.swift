import HTTPTypes
import JSON
import RateLimiting
import Routing
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
    private let newInstances = RateLimiter<TenantID>()
    private let clientNewInstances = RateLimiter<TenantIdentity>()
    /// Of those who have no valid key.
    private let strangers = RateLimiter<Client.Address>()
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
        self.now = now
        pauses = Pause.Count(sleep: sleep)
    }

    /// Counts a request of a key. A secret key is used by its tenant's servers, which are no clients in this sense.
    /// - Parameter installation: The ID of the key of App Attest that it came by: a client of its own, whatever its address.
    /// - Throws: 429 when a limit is reached.
    func admit(
        _ caller: KeyHolder, from client: Client, by installation: [UInt8]? = nil
    ) throws(Problem) -> RequestStanding {
        let now = now()
        var standing = RequestStanding()
        if caller.kind == .publishable, let limit = caller.limits.client ?? defaults.client {
            let state =
                if let installation {
                    installations.take(
                        TenantInstallation(tenant: caller.tenant, key: installation), limit, at: now)
                } else {
                    clients.take(
                        TenantClient(tenant: caller.tenant, address: client.address), limit, at: now)
                }
            standing.client = state
            guard state.isAdmitted else {
                throw .rateLimited(by: .client, state, standing, pauses.pause(for: client))
            }
        }
        if let limit = caller.limits.key ?? defaults.key {
            let state = keys.take(TenantKey(tenant: caller.tenant, key: caller.key), limit, at: now)
            standing.key = state
            guard state.isAdmitted else {
                throw .rateLimited(by: .key, state, standing, pauses.pause(for: client))
            }
        }
        return standing
    }

    /// Counts a request of somebody who scanned a code, as those of a publishable key are.
    /// - Throws: 429 when the client sends too many of these.
    func admitVisitor(of host: RoutingTable.ProvedHost, from client: Client) throws(Problem) {
        guard let limit = host.limits.client ?? defaults.client else { return }
        let state = clients.take(
            TenantClient(tenant: host.tenant, address: client.address), limit, at: now())
        guard state.isAdmitted else {
            throw .rateLimited(
                by: .client, state, RequestStanding(client: state), pauses.pause(for: client))
        }
    }

    // MARK: New instances

    /// Counts an instance that a request may add, which is known only when it has: if not, the place is given back.
    ///
    /// Many requests that come at once get no more places than there are. A client that is refused has used up nothing of
    /// its tenant's.
    /// - Returns: Nil, or 429 when a limit is reached and nothing is counted.
    func admitInstance(of caller: KeyHolder, from client: Client.Identity) -> Problem? {
        let now = now()
        if let (holder, limit) = clientInstances(of: caller, from: client) {
            let state = clientNewInstances.take(holder, limit, at: now)
            guard state.isAdmitted else { return .rateLimited(by: .clientNewInstances, state) }
        }
        if let limit = caller.limits.newInstances ?? defaults.newInstances {
            let state = newInstances.take(caller.tenant, limit, at: now)
            guard state.isAdmitted else {
                if let (holder, limit) = clientInstances(of: caller, from: client) {
                    clientNewInstances.giveBack(holder, limit)
                }
                return .rateLimited(by: .newInstances, state)
            }
        }
        return nil
    }

    /// Takes back what was counted: no instance was added.
    func giveBackInstance(of caller: KeyHolder, from client: Client.Identity) {
        if let (holder, limit) = clientInstances(of: caller, from: client) {
            clientNewInstances.giveBack(holder, limit)
        }
        if let limit = caller.limits.newInstances ?? defaults.newInstances {
            newInstances.giveBack(caller.tenant, limit)
        }
    }

    /// A secret key's instances count for the tenant alone.
    private func clientInstances(
        of caller: KeyHolder, from client: Client.Identity
    ) -> (TenantIdentity, RateLimit)? {
        guard caller.kind == .publishable,
            let limit = caller.limits.clientNewInstances ?? defaults.clientNewInstances
        else { return nil }
        return (TenantIdentity(tenant: caller.tenant, client: client), limit)
    }

    // MARK: Strangers

    /// Counts a request without a valid key, or for what is not there: neither needs a key.
    /// - Throws: 429 when the client sends too many of these.
    func admitStranger(from client: Client) throws(Problem) {
        guard let limit = defaults.client else { return }
        let state = strangers.take(client.address, limit, at: now())
        guard state.isAdmitted else {
            throw .rateLimited(
                by: .client, state, RequestStanding(client: state), pauses.pause(for: client))
        }
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

    private struct TenantIdentity: Hashable {
        let tenant: TenantID
        let client: Client.Identity
    }
}

/// How much of its limits a request has left.
///
/// Told in the fields `RateLimit-Policy` and `RateLimit`. Source: IETF, draft-ietf-httpapi-ratelimit-headers-10.
struct RequestStanding: Sendable, Equatable {
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
    fileprivate enum Limit: String {
        case client, key
        case clientNewInstances = "client_new_instances"
        case newInstances = "new_instances"

        var detail: String {
            switch self {
            case .client: "this client asks more often than its limit allows"
            case .key: "this key is used more often than its limit allows"
            case .clientNewInstances: "this client adds more instances than its limit allows"
            case .newInstances: "the tenant gets more new instances than its limit allows"
            }
        }
    }

    fileprivate static func rateLimited(
        by limit: Limit, _ state: RateLimitState, _ standing: RequestStanding = RequestStanding(),
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
        "too many requests of the tenant or the client are under way at once",
        members: ["limit": "concurrency", "retryAfter": 1], headers: [.retryAfter: "1"])
}
