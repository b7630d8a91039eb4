import APNsPayload
import Foundation
import JWTKit
import Notifications
import Synchronization
import Tenancy

/// What a request shows to prove whose it is.
struct ProviderToken: Sendable, Hashable {
    let keyID: String
    /// The value of the header `authorization`.
    let authorization: String
    let issuedAt: Date
    /// The same on a clock that nobody sets.
    let issuedUptime: ContinuousClock.Instant
    /// At which age there is to be another, in seconds.
    let renewalAge: Double
}

/// The provider tokens of the teams: one for each key, made anew when it is time.
///
/// "Refresh your token no more than once every 20 minutes and no less than once every 60 minutes." Source:
/// "Establishing a token-based connection to APNs" [Apple]. That it is done after 38 to 42 minutes is ours.
final class ProviderTokens: Sendable {
    /// What a key is for.
    struct Place: Hashable {
        let team: TeamID
        let environment: APNsEnvironment
    }

    private struct Name: Hashable {
        let team: TeamID
        let keyID: String
    }

    private struct Contents {
        var keys: [Place: APNsKey] = [:]
        var tokens: [Name: ProviderToken] = [:]
        /// The keys that somebody signs with at the moment, to renew a token that is still good.
        var renewing: Set<Name> = []
    }

    private let contents = Mutex(Contents())
    private let clock: @Sendable () -> Time

    /// A moment, by the time of day and by a clock that nobody sets.
    private struct Time {
        let date: Date
        let uptime: ContinuousClock.Instant

        /// In seconds; nil for a token that is worth nothing, since it was issued in the future.
        ///
        /// By the clock that nobody sets: after the time of day was put back, a token would be kept for too long. By the
        /// time of day where that is longer: it was put forward, and APNs goes by it.
        func age(of token: ProviderToken) -> Double? {
            let age = date.timeIntervalSince(token.issuedAt)
            guard age >= -ProviderTokens.tolerance else { return nil }
            return max(age, (uptime - token.issuedUptime) / .seconds(1))
        }
    }

    /// So far may the time of day be put back before what was issued is in the future.
    private static let tolerance = 60.0
    private static let minimumAge = 20.0 * 60
    private static let renewalAge = 38.0 * 60...42.0 * 60
    /// While a token is renewed, the old one is used up to this age.
    private static let maximumAge = 55.0 * 60

    init(
        _ keys: [APNsKey], now: @escaping @Sendable () -> Date,
        uptime: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        clock = { Time(date: now(), uptime: uptime()) }
        _ = replaceKeys(keys)
    }

    /// The tokens of keys that stay are kept; one of the same ID may be another, where the file was the wrong one.
    /// - Returns: where there was another key before.
    func replaceKeys(_ keys: [APNsKey]) -> Set<Place> {
        contents.withLock { contents in
            let before = contents.keys
            contents.keys = [:]
            for key in keys {
                for environment in key.environments {
                    contents.keys[Place(team: key.team, environment: environment)] = key
                }
            }
            let kept = keys.filter { key in
                before.values.contains { $0.team == key.team && key.isSame(as: $0) }
            }
            let names = Set(kept.map { Name(team: $0.team, keyID: $0.id) })
            contents.tokens = contents.tokens.filter { names.contains($0.key) }
            return Set(before.filter { !$0.value.isSame(as: contents.keys[$0.key]) }.keys)
        }
    }

    /// The token to show; nil when the team has no key for the environment.
    func token(for team: TeamID, _ environment: APNsEnvironment) async -> ProviderToken? {
        let now = clock()
        let (key, usable) = contents.withLock { contents -> (APNsKey?, ProviderToken?) in
            guard let key = contents.keys[Place(team: team, environment: environment)] else {
                return (nil, nil)
            }
            let name = Name(team: team, keyID: key.id)
            guard let token = contents.tokens[name], let age = now.age(of: token) else { return (key, nil) }
            if age < token.renewalAge { return (key, token) }
            // One renews it; meanwhile it is good for all others.
            if age < Self.maximumAge, !contents.renewing.insert(name).inserted {
                return (key, token)
            }
            return (key, nil)
        }
        guard let key else { return nil }
        if let usable { return usable }
        return await renew(key, for: Place(team: team, environment: environment), at: now)
    }

    /// Another token than one that APNs says is too old.
    /// - Returns: nil when it is too soon for that: then it is not its age that is wrong, but a clock.
    func token(
        insteadOf refused: ProviderToken, for team: TeamID, _ environment: APNsEnvironment
    ) async
        -> ProviderToken?
    {
        let now = clock()
        let (key, current) = contents.withLock { contents in
            let key = contents.keys[Place(team: team, environment: environment)]
            return (key, key.flatMap { contents.tokens[Name(team: team, keyID: $0.id)] })
        }
        guard let key else { return nil }
        if let current, current != refused, now.age(of: current) != nil { return current }
        guard now.age(of: refused).map({ $0 >= Self.minimumAge }) ?? true else { return nil }
        return await renew(key, for: Place(team: team, environment: environment), at: now)
    }

    /// Signs a token; of several at once, one is kept, and everybody has that. Where the key was replaced meanwhile, it is one
    /// of the new key.
    private func renew(_ key: APNsKey, for place: Place, at now: Time) async -> ProviderToken? {
        let name = Name(team: key.team, keyID: key.id)
        let authorization = await Self.sign(key, at: now.date)
        let (isCurrent, token) = contents.withLock { contents -> (Bool, ProviderToken?) in
            contents.renewing.remove(name)
            guard key.isSame(as: contents.keys[place]) else { return (false, nil) }
            if let other = contents.tokens[name], let age = now.age(of: other), age < Self.minimumAge {
                return (true, other)
            }
            guard let authorization else { return (true, nil) }
            let token = ProviderToken(
                keyID: key.id, authorization: authorization, issuedAt: now.date, issuedUptime: now.uptime,
                renewalAge: .random(in: Self.renewalAge))
            contents.tokens[name] = token
            return (true, token)
        }
        return isCurrent ? token : await self.token(for: place.team, place.environment)
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
