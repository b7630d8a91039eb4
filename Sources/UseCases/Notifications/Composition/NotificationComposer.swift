import APNsPayload
import Formats
public import Foundation
import Invocation
public import Lookups
import Tenancy

/// Composes the payload and headers of a notification so that it reaches the right experience of an App Clip.
///
/// `target-content-id` is the whole canonical invocation URL: for clips of several businesses, Apple requires a URL that
/// matches an advanced experience and is "as specific as possible" ("Enabling notifications in App Clips"). Other clips need
/// none: if only the default or the demo experience matches, the payload has none.
///
/// Composes from a lookup index, and never waits. Safe to use from many threads.
public struct NotificationComposer: Sendable {
    public init() {}

    /// The time after each launch for which an App Clip may receive notifications without asking for permission [Apple].
    public static let ephemeralPermission: TimeInterval = 8 * 60 * 60

    /// - Parameters:
    ///   - launchedAt: When the clip was last launched, if that is known.
    ///   - now: The time of the request.
    public func compose(
        _ request: NotificationRequest, launchedAt: Date? = nil, in table: TenantTable, at now: Date
    ) throws(CompositionRefusal) -> ComposedNotification {
        let match = try Self.match(request, in: table)
        return try Self.compose(request, for: match.experience, launchedAt: launchedAt, at: now)
    }

    /// The most specific advanced experience that matches the request's URL. If none matches, the most specific experience of any
    /// kind.
    static func match(
        _ request: NotificationRequest, in table: TenantTable
    ) throws(CompositionRefusal) -> TenantTable.Match {
        guard let match = table.match(request.url, preferringAdvanced: true) else { throw .doesNotMatch }
        return match
    }

    /// - Parameters:
    ///   - experience: The experience that matches the request's URL.
    ///   - isBroadcast: Whether the notification goes to a channel, which allows more bytes.
    ///   - isForBusiness: Whether the notification is for everyone at a business, so that the URL must name the business. If the
    ///     request selects instances, or their launch URLs select them, the URL need not name a business. [ours]
    package static func compose(
        _ request: NotificationRequest, for experience: IndexedExperience, launchedAt: Date? = nil,
        isBroadcast: Bool = false, isForBusiness: Bool = true, at now: Date
    ) throws(CompositionRefusal) -> ComposedNotification {
        let isAdvanced = experience.kind == .advanced
        if isForBusiness, !experience.namesOneBusiness {
            guard isAdvanced else { throw .doesNotMatch }
            throw .notBusinessSpecific(
                matched: experience, register: experience.businessSpecificURL(for: request.url))
        }
        let headers: NotificationHeaders
        do throws(PayloadError) {
            headers = try NotificationHeaders(json: request.headers, appClip: experience.clip.text)
        } catch {
            throw .invalid(error)
        }
        // The 8 hours are about notifications: a Live Activity is updated by its own token. [Apple]
        let deadline = try (headers.pushType == .alert ? launchedAt : nil).map {
            launch throws(CompositionRefusal) in
            try Self.deadline(launchedAt: launch, now: now)
        }
        do throws(PayloadError) {
            var aps = try APS(json: request.aps)
            guard aps.targetContentID == nil else {
                throw .invalid(
                    field: "aps.target-content-id", reason: "is taken from url and must be left out")
            }
            // Apple documents no effect of it on Live Activities. [ours]
            let hasTarget =
                headers.pushType == .alert && (isAdvanced || experience.clipIsMultiBusiness)
            aps.targetContentID = hasTarget ? request.url.canonical : nil
            let payload = try NotificationPayload(aps: aps, custom: request.custom)
            var warnings = payload.warnings.map(CompositionWarning.payload)
            var headers = headers
            if let deadline {
                let asked = headers.expiration
                headers.limitExpiration(to: deadline)
                if asked != nil, asked != headers.expiration { warnings.append(.expirationShortened) }
            }
            return ComposedNotification(
                payload: try payload.encoded(for: headers.pushType, isBroadcast: isBroadcast),
                headers: headers, experience: experience, warnings: warnings, target: aps.targetContentID)
        } catch {
            throw .invalid(error)
        }
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

extension IndexedExperience {
    /// The experience that would be specific to the business of an invocation: this one, extended by the part from which its
    /// rule reads the business; the invocation's own URL if no rule reads one [ours].
    ///
    /// Nil if the URL could not be registered, or is the URL of this experience itself.
    fileprivate func businessSpecificURL(for invocation: InvocationURL) -> URLPrefix? {
        guard let registered = try? URLPrefix(url),
            let text = businessSpecificText(for: invocation, registered),
            let specific = try? URLPrefix(text), specific != registered, specific.matches(invocation)
        else { return nil }
        return specific
    }

    private func businessSpecificText(for invocation: InvocationURL, _ registered: URLPrefix) -> String? {
        guard case .rule(let rule) = binding,
            rule.read(invocation, afterPathComponents: pathComponentCount) != .absent
        else {
            return invocation.canonicalWithoutFragment
        }
        switch rule {
        case .path(let number):
            let path = invocation.pathComponents.prefix(pathComponentCount + number)
            let query = registered.queryItems.map(\.text).joined(separator: "&")
            return (["https://\(registered.host)"] + path).joined(separator: "/")
                + (query.isEmpty ? "" : "?" + query)
        case .query(let name), .hash(let name):
            let item = invocation.queryItems.first { $0.name == name && !registered.queryItems.contains($0) }
            return item.map { url + (registered.queryItems.isEmpty ? "?" : "&") + $0.text }
        case .coordinates:
            // A place that is signed in its URL is registered nowhere.
            return nil
        }
    }
}
