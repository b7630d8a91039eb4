import APNsPayload
import Foundation
import JWTKit
import Notifications
import Synchronization
import Tenancy

/// The token that authenticates a request.
struct ProviderToken: Sendable, Hashable {
    let keyID: String
    /// The value of the header `authorization`.
    let authorization: String
    let issuedAt: Date
    /// The same by a monotonic clock.
    let issuedUptime: ContinuousClock.Instant
    /// The age in seconds at which a token is replaced.
    let renewalAge: Double
}

/// The provider tokens of the teams' keys.
///
/// APNs counts tokens per connection: it reports an error "if you use a new token more than once every 20 minutes on the
/// same connection", and refuses tokens older than 60 minutes. Source: "Establishing a token-based connection to APNs"
/// [Apple]. So each connection keeps its own token (``APNsConnection``). A connection gets the newest token of its key if
/// that is less than 20 minutes old, otherwise a new one: a key signs at most one token in 20 minutes. [ours]
final class ProviderTokens: Sendable {
    /// The purpose of a key.
    struct Place: Hashable {
        let team: TeamID
        let environment: APNsEnvironment
        /// A bundle ID that has a topic-specific key; nil for the team's other bundle IDs.
        var topic: String?
    }

    private struct Name: Hashable {
        let team: TeamID
        let keyID: String
    }

    private struct Contents {
        var keys: [Place: APNsKey] = [:]
        /// The newest token of each key.
        var tokens: [Name: ProviderToken] = [:]

        /// The topic-specific key, or else the team's.
        func key(at place: Place) -> APNsKey? {
            keys[place] ?? keys[Place(team: place.team, environment: place.environment)]
        }
    }

    private let contents = Mutex(Contents())
    private let clock: @Sendable () -> Time

    /// A moment, by the time of day and by a monotonic clock.
    struct Time {
        let date: Date
        let uptime: ContinuousClock.Instant

        /// In seconds; nil for a token that is worth nothing, since it was issued in the future.
        ///
        /// By the monotonic clock, because a token would be kept for too long after the time of day was set back. By the time
        /// of day if that is longer: it was set forward, and APNs uses it.
        func age(of token: ProviderToken) -> Double? {
            let age = date.timeIntervalSince(token.issuedAt)
            guard age >= -ProviderTokens.tolerance else { return nil }
            return max(age, (uptime - token.issuedUptime) / .seconds(1))
        }
    }

    /// The maximum step back of the time of day before the time of issue is in the future.
    private static let tolerance = 60.0
    /// The shortest time between two tokens on one connection, in seconds. [Apple]
    static let minimumAge = 20.0 * 60
    /// At least `minimumAge` after a connection's first request, as its token was younger than `minimumAge` then.
    private static let renewalAge = 42.0 * 60...46.0 * 60
    /// While a token is renewed, the old one is used up to this age.
    static let maximumAge = 55.0 * 60

    init(
        _ keys: [APNsKey], now: @escaping @Sendable () -> Date,
        uptime: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        clock = { Time(date: now(), uptime: uptime()) }
        replaceKeys(keys)
    }

    var now: Time { clock() }

    /// Replaces all keys. The tokens of keys that stay are kept; a key of the same ID may be another, where the file was
    /// the wrong one.
    func replaceKeys(_ keys: [APNsKey]) {
        contents.withLock { contents in
            let before = contents.keys
            contents.keys = [:]
            for key in keys {
                for environment in key.environments {
                    for topic in key.topics.map({ $0.map { Optional($0.text) } }) ?? [nil] {
                        contents.keys[Place(team: key.team, environment: environment, topic: topic)] = key
                    }
                }
            }
            let kept = keys.filter { key in
                before.values.contains { $0.team == key.team && key.isSame(as: $0) }
            }
            let names = Set(kept.map { Name(team: $0.team, keyID: $0.id) })
            contents.tokens = contents.tokens.filter { names.contains($0.key) }
        }
    }

    /// The key to sign with; nil when the team has none for the environment and topic.
    func key(at place: Place) -> APNsKey? { contents.withLock { $0.key(at: place) } }

    /// The pool for a bundle ID: the pool of its topic-specific key, or the team's.
    func place(for bundleID: String, of team: TeamID, in environment: APNsEnvironment) -> Place {
        let own = Place(team: team, environment: environment, topic: bundleID)
        return contents.withLock { $0.keys[own] } == nil ? Place(team: team, environment: environment) : own
    }

    /// Returns a token for a connection that has none yet, or whose token must be replaced.
    /// - Returns: A token less than 20 minutes old; nil if there is no key.
    func token(at place: Place) async -> ProviderToken? {
        let now = clock()
        let (key, newest) = contents.withLock { contents in
            let key = contents.key(at: place)
            return (key, key.flatMap { contents.tokens[Name(team: $0.team, keyID: $0.id)] })
        }
        guard let key else { return nil }
        if let newest, let age = now.age(of: newest), age < Self.minimumAge { return newest }
        return await sign(key, for: place, at: now)
    }

    /// Whether another connection would use a newer token than this one, which APNs reported as too old.
    /// - Returns: false when it is too soon for another: then not its age is wrong, but a clock.
    func isReplaceable(_ refused: ProviderToken, at place: Place) -> Bool {
        let now = clock()
        let newest = contents.withLock { contents in
            contents.key(at: place).flatMap { contents.tokens[Name(team: $0.team, keyID: $0.id)] }
        }
        return newest != refused || now.age(of: refused).map { $0 >= Self.minimumAge } ?? true
    }

    /// Signs a token. If several are signed at once, all callers get the one that is kept. If the key was replaced meanwhile,
    /// or the token is no longer new, another is signed.
    private func sign(_ key: APNsKey, for place: Place, at now: Time) async -> ProviderToken? {
        let name = Name(team: key.team, keyID: key.id)
        let authorization = await Self.sign(key, at: now.date)
        // On a busy machine signing takes long, and another connection may have a newer token.
        let end = clock()
        let (isCurrent, token) = contents.withLock { contents -> (Bool, ProviderToken?) in
            guard key.isSame(as: contents.key(at: place)) else { return (false, nil) }
            if let other = contents.tokens[name], let age = end.age(of: other), age < Self.minimumAge {
                return (true, other)
            }
            guard let authorization else { return (true, nil) }
            let token = ProviderToken(
                keyID: key.id, authorization: authorization, issuedAt: now.date, issuedUptime: now.uptime,
                renewalAge: .random(in: Self.renewalAge))
            guard let age = end.age(of: token), age < Self.minimumAge else { return (false, nil) }
            contents.tokens[name] = token
            return (true, token)
        }
        return isCurrent ? token : await self.token(at: place)
    }

    private struct Claims: JWTPayload {
        let iss: String
        let iat: Int

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    /// Nil should the signature fail, which for a key that was read it does not.
    private static func sign(_ key: APNsKey, at now: Date) async -> String? {
        let signer = await JWTKeyCollection().add(ecdsa: key.key, kid: JWKIdentifier(string: key.id))
        let claims = Claims(iss: key.team.text, iat: Int(now.timeIntervalSince1970))
        let token = try? await signer.sign(claims, kid: JWKIdentifier(string: key.id))
        return token.map { "bearer " + $0 }
    }
}
