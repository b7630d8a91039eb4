import APNsPayload
import Formats
public import Foundation
public import Invocation
public import Lookups
public import Tenancy

/// Accepts notifications: composes each, stores it with the decision for each instance, and wakes the sender.
///
/// Safe to use from many threads.
public struct NotificationIntake: Sendable {
    /// APNs keeps nothing for longer. [Apple]
    private static let longestStorage: TimeInterval = 30 * 86_400

    private let store: any NotificationStore
    private let onDecided: @Sendable ([DeliveryCount]) -> Void
    private let onQueued: @Sendable () -> Void
    private let onIncomplete: @Sendable () -> Void

    /// - Parameters:
    ///   - onDecided: Called with the decisions for the first part of an audience.
    ///   - onQueued: Called when there is something to be sent.
    ///   - onIncomplete: Called when a part of an audience is left to be taken in.
    public init(
        _ store: any NotificationStore,
        onDecided: @escaping @Sendable ([DeliveryCount]) -> Void = { _ in },
        onQueued: @escaping @Sendable () -> Void = {},
        onIncomplete: @escaping @Sendable () -> Void = {}
    ) {
        self.store = store
        self.onDecided = onDecided
        self.onQueued = onQueued
        self.onIncomplete = onIncomplete
    }

    /// The result of a submission.
    public enum Outcome: Sendable, Hashable {
        case accepted(NotificationTrace)
        /// It was accepted before: its response, with the deliveries that followed.
        case repeated(NotificationTrace)
        case refused(IntakeRefusal)
    }

    /// Stores a notification; when this returns it will be sent, whatever happens to this server.
    /// - Throws: `StoreUnavailable`.
    public func accept(
        _ submission: NotificationSubmission, in table: TenantTable, at now: Date
    ) async throws -> Outcome {
        let distribution: Distribution
        do throws(IntakeRefusal) {
            distribution = try Self.distribution(of: submission, in: table, at: now)
        } catch {
            // A repeated request gets its first response, even if it would be refused now.
            guard let key = submission.idempotencyKey,
                let earlier = try await store.addition(with: key, of: table.tenant)
            else { return .refused(error) }
            return outcome(of: earlier)
        }
        return outcome(
            of: try await store.add(distribution, for: submission.idempotencyKey, of: table.tenant))
    }

    /// The progress of a notification: one page of its deliveries, after the named one.
    /// - Parameter locations: Only notifications that keys restricted to locations sent to one of these; nil for any.
    /// - Returns: Nil if the tenant does not have the notification.
    /// - Throws: `StoreUnavailable`.
    public func trace(
        _ id: NotificationID, of tenant: TenantID, within locations: Set<LocationIdentifier>? = nil,
        after last: DeliveryID? = nil, limit: Int
    ) async throws -> NotificationTrace? {
        guard let trace = try await store.trace(id, of: tenant, after: last, limit: limit) else { return nil }
        guard let locations else { return trace }
        let notification = trace.notification
        let isVisible =
            notification.audience.isOfLocation && (notification.location.map(locations.contains) ?? false)
        return isVisible ? trace : nil
    }

    /// Cancels a notification.
    /// - Parameter locations: Only notifications that keys restricted to locations sent to one of these; nil for any.
    /// - Throws: `StoreUnavailable`.
    public func cancel(
        _ id: NotificationID, of tenant: TenantID, within locations: Set<LocationIdentifier>? = nil,
        by actor: String
    ) async throws -> Cancellation {
        guard try await trace(id, of: tenant, within: locations, limit: 1) != nil else { return .unknown }
        return try await store.cancel(id, of: tenant, by: actor)
    }

    private func outcome(of addition: Addition) -> Outcome {
        switch addition {
        case .added(let trace):
            onDecided(trace.counts)
            if trace.counts.contains(where: { $0.state == .queued }) { onQueued() }
            if !trace.isComplete { onIncomplete() }
            return .accepted(trace)
        case .repeated(let trace): return .repeated(trace)
        case .refused(let refusal): return .refused(refusal)
        }
    }

    private static func distribution(
        of submission: NotificationSubmission, in table: TenantTable, at now: Date
    ) throws(IntakeRefusal) -> Distribution {
        var submission = submission
        submission.audience.isOfLocation = table.visibleLocations != nil
        let request = submission.notification
        if submission.audience.isBroadcast, request.headers["collapseID"] != nil {
            throw .invalidHeader("collapseID", "must be left out: a broadcast has no collapse ID")
        }
        guard request.headers["id"] == nil else {
            throw .invalidHeader("id", "is chosen for each delivery and must be left out")
        }
        let match: TenantTable.Match
        let notification: ComposedNotification
        do throws(CompositionRefusal) {
            match = try NotificationComposer.match(request, in: table)
            notification = try NotificationComposer.compose(
                request, for: match.experience, isBroadcast: submission.audience.isBroadcast,
                isForBusiness: submission.audience.audience == .business, at: now)
        } catch {
            throw .composition(error)
        }
        if let expiration = notification.headers.expiration {
            let time = TimeInterval(expiration.epochSeconds)
            guard expiration == .immediate || time > now.timeIntervalSince1970 else {
                throw .invalidHeader("expiration", "must be 0 or in the future")
            }
            guard time <= now.timeIntervalSince1970 + longestStorage else {
                throw .invalidHeader("expiration", "must be within 30 days, in seconds since 1970")
            }
        }
        let business = Business(notification.experience, table.lookUp(request.url, by: match))
        try requireKnownPlace(of: submission.audience, at: business)
        return try Distribution(
            RecordedNotification(notification, submission, at: business, now: now),
            clipIsMultiBusiness: notification.experience.clipIsMultiBusiness)
    }

    /// Refuses an audience whose locations or confirmations the request needs but Doorstep does not know.
    private static func requireKnownPlace(
        of audience: AudienceRequest, at business: Business
    ) throws(IntakeRefusal) {
        if audience.isOfLocation {
            switch audience.audience {
            case .channel:
                throw .wrongAudience(
                    "subscribers of a channel can be anywhere, but this key is restricted to locations")
            case .activity:
                throw .wrongAudience(
                    "the location of a Live Activity is unknown, but this key is restricted to locations")
            case .instance, .business, .urlPrefix: break
            }
        }
        if audience.confirmedOnly {
            guard !audience.isBroadcast else {
                throw .wrongAudience(
                    "Doorstep does not know the subscribers of a channel, nor whether they were confirmed")
            }
            guard business.location != nil else {
                throw .wrongAudience(
                    "the target's URL leads to no location, so no instance can be confirmed there")
            }
        }
    }
}

extension IntakeRefusal {
    fileprivate static func invalidHeader(_ name: String, _ reason: String) -> IntakeRefusal {
        .composition(.invalid(.invalid(field: "headers.\(name)", reason: reason)))
    }
}
