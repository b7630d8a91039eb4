import Foundation
import Locations
import Synchronization
import Tenancy

/// Caches confirmation counts of completed days for an hour. Counting reads all confirmations, and few of them arrive late.
final class FinishedDays: Sendable {
    private struct Counted {
        let days: Range<Date>
        let counts: [ConfirmationCounts]
        let at: Date
    }

    private let tenants = Mutex<[TenantID: Counted]>([:])

    private static let lifetime: TimeInterval = 3_600
    /// The time between the end of a day and the caching of its counts. Servers write confirmations with a short delay. [ours]
    private static let settling: TimeInterval = 600
    /// The maximum number of tenants in the cache. [ours]
    private static let maximumTenants = 64

    /// The counts of the last days in UTC. Today is counted on each call.
    func counts(
        of tenant: TenantID, days count: Int, at now: Date, in history: any ConfirmationHistory
    ) async throws -> [ConfirmationCounts] {
        let today = now.startOfDay
        let days = now.start(ofDays: count)..<today
        let current = try await history.counts(ConfirmationSelection(start: today), of: tenant)
        let known = tenants.withLock { $0[tenant] }
        if let known, known.days == days, now.timeIntervalSince(known.at) < Self.lifetime {
            return current + known.counts
        }
        let counts = try await history.counts(
            ConfirmationSelection(start: days.lowerBound, end: days.upperBound), of: tenant)
        if now.timeIntervalSince(today) >= Self.settling {
            tenants.withLock { tenants in
                if tenants.count >= Self.maximumTenants { tenants.removeAll() }
                tenants[tenant] = Counted(days: days, counts: counts, at: now)
            }
        }
        return current + counts
    }
}

extension Date {
    /// The first moment of the day in UTC.
    var startOfDay: Date {
        Date(
            timeIntervalSinceReferenceDate: (timeIntervalSinceReferenceDate / 86_400).rounded(.down) * 86_400)
    }

    /// The start of a period of days in UTC that ends with this day.
    func start(ofDays count: Int) -> Date { startOfDay.addingTimeInterval(-Double(count - 1) * 86_400) }
}
