import APNsPayload
public import Foundation
import Invocation
import JSON
public import Tenancy

/// Composes the payload and headers of a notification so that it reaches the right instance of an App Clip.
///
/// `target-content-id` is the canonical invocation URL, whole: Apple asks for a URL that matches an advanced
/// experience and is "as specific as possible" ("Enabling notifications in App Clips").
///
/// Safe to use from many tasks. Throws only what its store throws: every refusal is an answer.
public struct NotificationComposer: Sendable {
    private let store: any ExperienceStore

    public init(store: any ExperienceStore) {
        self.store = store
    }

    /// How long after each launch an App Clip may receive notifications without asking for permission
    /// [Apple].
    public static let ephemeralPermission: TimeInterval = 8 * 60 * 60

    /// - Parameter now: The time of the request.
    public func compose(
        _ request: NotificationRequest, of tenant: TenantID, at now: Date
    ) async throws -> Composition {
        guard request.url.isMatchable else { return .refused(.doesNotMatch) }
        let near = try await store.experiences(near: request.url, of: tenant)
        do throws(CompositionRefusal) {
            return .composed(try Self.compose(request, among: near, at: now))
        } catch {
            return .refused(error)
        }
    }

    static func compose(
        _ request: NotificationRequest, among near: [ClipExperience], at now: Date
    ) throws(CompositionRefusal) -> ComposedNotification {
        let experience = try match(request.url, among: near)
        let deadline = try request.launchedAt.map { launch throws(CompositionRefusal) in
            try Self.deadline(launchedAt: launch, now: now)
        }
        do throws(PayloadError) {
            var aps = try APS(json: request.aps)
            guard aps.targetContentID == nil else {
                throw .invalid(
                    field: "aps.target-content-id", reason: "is taken from url and must be left out")
            }
            aps.targetContentID = request.url.canonical
            let payload = try NotificationPayload(aps: aps, custom: request.custom)
            var warnings = payload.warnings.map(CompositionWarning.payload)
            var headers = try NotificationHeaders(json: request.headers, appClip: experience.clip.text)
            if let deadline {
                let asked = headers.expiration
                headers.limitExpiration(to: deadline)
                if asked != nil, asked != headers.expiration { warnings.append(.expirationShortened) }
            }
            return ComposedNotification(
                payload: try payload.encoded(for: headers.pushType), headers: headers, experience: experience,
                warnings: warnings)
        } catch {
            throw .invalid(error)
        }
    }

    /// The advanced experience that the notification's target will match.
    private static func match(
        _ url: InvocationURL, among near: [ClipExperience]
    ) throws(CompositionRefusal) -> Experience {
        guard
            let experience = ExperienceIndex(near.map(\.experience)).mostSpecific(
                for: url, among: [.advanced])
        else { throw .doesNotMatch }
        let isMultiBusiness = near.contains {
            $0.experience.clip == experience.clip && $0.clipIsMultiBusiness
        }
        if isMultiBusiness, !experience.isBoundToOneLocation {
            throw .notBusinessSpecific(
                matched: experience, register: experience.businessSpecificURL(for: url))
        }
        return experience
    }

    /// Until when the clip may receive notifications. A launch that a skewed clock puts in the
    /// future counts as one of now.
    private static func deadline(
        launchedAt launch: Date, now: Date
    ) throws(CompositionRefusal) -> NotificationHeaders.Expiration {
        let deadline = min(launch, now).addingTimeInterval(ephemeralPermission)
        guard deadline > now,
            let expiration = NotificationHeaders.Expiration(epochSeconds: Int(deadline.timeIntervalSince1970))
        else { throw .launchTooLongAgo }
        return expiration
    }
}

extension NotificationHeaders {
    /// Without an expiration APNs may keep a notification for 30 days, so one is set then too.
    fileprivate mutating func limitExpiration(to deadline: Expiration) {
        expiration = expiration.map { $0.epochSeconds < deadline.epochSeconds ? $0 : deadline } ?? deadline
    }
}

extension Experience {
    fileprivate var isBoundToOneLocation: Bool {
        if case .location = binding { true } else { false }
    }

    /// The experience that would be specific to the business of an invocation: this one, extended by what its rule
    /// reads the business from; the invocation's own URL where no rule says what that is [ours].
    ///
    /// Nil when that could not be registered, or is this experience itself.
    fileprivate func businessSpecificURL(for invocation: InvocationURL) -> URLPrefix? {
        guard let text = businessSpecificText(for: invocation), let specific = try? URLPrefix(text),
            specific != url, specific.matches(invocation)
        else { return nil }
        return specific
    }

    private func businessSpecificText(for invocation: InvocationURL) -> String? {
        guard case .rule(let rule) = binding, rule.read(invocation, after: url) != .absent else {
            return invocation.canonicalWithoutFragment
        }
        switch rule {
        case .path(let number):
            let path = invocation.pathComponents.prefix(url.pathComponents.count + number)
            let query = url.queryItems.map(\.text).joined(separator: "&")
            return (["https://\(url.host)"] + path).joined(separator: "/")
                + (query.isEmpty ? "" : "?" + query)
        case .query(let name), .hash(let name):
            let item = invocation.queryItems.first { $0.name == name && !url.queryItems.contains($0) }
            return item.map { url.canonical + (url.queryItems.isEmpty ? "?" : "&") + $0.text }
        case .coordinates:
            // A place that is signed in its URL is registered nowhere.
            return nil
        }
    }
}
