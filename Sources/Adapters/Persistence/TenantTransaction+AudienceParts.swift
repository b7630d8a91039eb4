import Formats
import Foundation
import Notifications
import PostgreSQL
import Tenancy

/// A part of an audience, with the decision about each instance.
struct DecidedPart {
    var deliveries: [RecordedDelivery] = []
    /// The skipped instances without a delivery, as counts.
    var skipped: [DeliveryCount] = []
    var place: AudiencePosition?
    var hasMore = false

    var counts: [DeliveryCount] {
        deliveries.map { DeliveryCount(state: $0.state, reason: $0.reason, count: 1) }.adding(skipped)
    }
}

extension TenantTransaction {
    /// Finds the next part of a notification's audience, and decides for each instance.
    ///
    /// Reads only as many launches as instances fit into the part. If most instances cannot be reached, reads more launches.
    func decidePart(
        of distribution: Distribution, _ size: AudiencePartSize, at cursor: AudienceCursor? = nil
    ) async throws -> DecidedPart {
        try await followIndexes()
        if let cursor {
            return try await decidePart(of: distribution, size, at: cursor, askedAt: cursor.askedAt)
        }
        // Launches with a future time count, too, because a clock may have been set back, or may be another server's.
        let part = try await decidePart(of: distribution, size, at: nil, askedAt: nil)
        guard part.hasMore else { return part }
        // All parts use the same time, so that they refer to the same launches.
        let now = try await execute("SELECT now()").one().decode(Date.self)
        return try await decidePart(of: distribution, size, at: nil, askedAt: now)
    }

    private func decidePart(
        of distribution: Distribution, _ size: AudiencePartSize, at cursor: AudienceCursor?, askedAt: Date?
    ) async throws -> DecidedPart {
        var part = DecidedPart(place: cursor?.place, hasMore: true)
        var (room, launchesLeft) = (size.reachable, size.launches)
        var skippedLeft = cursor == nil ? size.skipped : 0
        var count = cursor?.deliveryCount ?? 0
        // If an instance is launched again while its audience is processed, it can occur again. It can occur in this part, because
        // each statement sees the rows that are committed at its start, or in a later part.
        var met: Set<UUID> = []
        while part.hasMore, launchesLeft > 0, room > size.reachable / 10 {
            let limit = min(room, launchesLeft)
            var found = try await candidates(
                for: distribution, behind: part.place, askedAt: askedAt, limit: limit,
                skipped: skippedLeft)
            room -= found.reachable
            launchesLeft -= limit
            skippedLeft -= found.members.count - found.reachable
            part.place = found.last ?? part.place
            part.hasMore = found.hasMore
            found.members.removeAll { !met.insert($0.instance.uuid).inserted }
            if let cursor {
                let decided = try await instancesDecided(
                    among: found.members.map(\.instance.uuid), of: cursor.notification, cursor.createdAt)
                found.members.removeAll { decided.contains($0.instance.uuid) }
            }
            let overwriting = try await instancesOfOtherBusinesses(
                among: found.members.map(\.instance.uuid), distribution)
            for index in found.members.indices {
                found.members[index].hasOtherBusiness = overwriting.contains(
                    found.members[index].instance.uuid)
            }
            let ids = UUID.timeOrdered(
                found.members.count, at: distribution.notification.createdAt, from: count)
            count += ids.count
            part.deliveries += zip(found.members, ids).map {
                distribution.delivery(to: $0, id: DeliveryID($1))
            }
            part.skipped += try found.others.map { candidate, count in
                guard let reason = distribution.skipReason(of: candidate) else {
                    throw PersistenceError.unreadable("launches")
                }
                return DeliveryCount(state: .skipped, reason: reason.rawValue, count: count)
            }
        }
        return part
    }

    /// Stores the part after the cursor, and moves the cursor.
    func takePart(
        at cursor: AudienceCursor, _ size: AudiencePartSize
    ) async throws -> AudiencePart {
        let id = cursor.notification
        // Days are dropped with their notifications, and a clip is deleted with its instances.
        guard let notification = try await notification(id, cursor.createdAt)?.notification,
            let isMultiBusiness = try await isMultiBusiness(notification.clip)
        else {
            try await dropCursor(of: id)
            return AudiencePart(notification: id, counts: [], isLast: true)
        }
        var distribution = try PersistenceError.reading("notifications") {
            try Distribution(notification, clipIsMultiBusiness: isMultiBusiness)
        }
        // An older server may have stored the audience.
        if try await notificationRules().isTest {
            guard let allowed = try? distribution.inSandboxOnly() else {
                try await dropCursor(of: id)
                return AudiencePart(notification: id, counts: [], isLast: true)
            }
            distribution = allowed
        }
        let part = try await decidePart(of: distribution, size, at: cursor)
        try await insert(part.deliveries, of: notification)
        try await addSkipped(part.skipped, to: notification)
        try await keepPlace(of: part, of: notification)
        if !part.hasMore { try await dropCursor(of: id) }
        return AudiencePart(notification: id, counts: part.counts, isLast: !part.hasMore)
    }

    private func isMultiBusiness(_ clip: BundleID) async throws -> Bool? {
        try await execute(
            """
            SELECT multi_business FROM doorstep.clips
            WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(clip.text)
            """
        ).first.map { try $0.decode(at: 0) }
    }
}
