import Foundation
import Locations
import Synchronization
import Tenancy

/// How many confirmations tenants had on days that are over, kept for an hour: to count them is to read all of them, and hardly one comes
/// late.
final class FinishedDays: Sendable {
    private struct Counted {
        let days: Range<Date>
        let counts: [ConfirmationCounts]
        let at: Date
    }

    private let tenants = Mutex<[TenantID: Counted]>([:])

    private static let lifetime: TimeInterval = 3_600
    /// How long a day is over before its counts are kept: servers write what they have confirmed soon after. [ours]
    private static let settling: TimeInterval = 600
    /// Of how many tenants they are kept. [ours]
    private static let maximumTenants = 64

    /// Those of so many days of UTC up to now, today's counted anew.
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

    /// Where so many days of UTC begin of which this one is the last.
    func start(ofDays count: Int) -> Date { startOfDay.addingTimeInterval(-Double(count - 1) * 86_400) }
}
