import Confirmations
import Foundation
import Synchronization
import Tenancy

/// Caches counts of completed days for an hour. Counting reads all confirmations, and few of them arrive late.
final class FinishedDays<Count: Sendable>: Sendable {
    private struct Counted {
        let days: Range<Date>
        let counts: [Count]
        let at: Date
    }

    private let tenants = Mutex<[TenantID: Counted]>([:])

    private static var lifetime: TimeInterval { 3_600 }
    /// The time between the end of a day and the caching of its counts. Servers write confirmations with a short delay. [ours]
    private static var settling: TimeInterval { 600 }
    /// The maximum number of tenants in the cache. [ours]
    private static var maximumTenants: Int { 64 }

    /// The counts of the last days in UTC. Today is counted on each call.
    /// - Parameter count: Counts what the selection has.
    func counts(
        of tenant: TenantID, days number: Int, at now: Date,
        by count: (ConfirmationSelection) async throws -> [Count]
    ) async throws -> [Count] {
        let today = now.startOfDay
        let days = now.start(ofDays: number)..<today
        let current = try await count(ConfirmationSelection(start: today))
        let known = tenants.withLock { $0[tenant] }
        if let known, known.days == days, now.timeIntervalSince(known.at) < Self.lifetime {
            return current + known.counts
        }
        let counts = try await count(ConfirmationSelection(start: days.lowerBound, end: days.upperBound))
        if now.timeIntervalSince(today) >= Self.settling {
            tenants.withLock { tenants in
                if tenants.count >= Self.maximumTenants { tenants.removeAll() }
                tenants[tenant] = Counted(days: days, counts: counts, at: now)
            }
        }
        return current + counts
    }
}

/// Caches a value of each tenant for a minute.
final class RecentValues<Value: Sendable>: Sendable {
    private let tenants = Mutex<[TenantID: (value: Value, at: Date)]>([:])

    private static var lifetime: TimeInterval { 60 }
    /// The maximum number of tenants in the cache. [ours]
    private static var maximumTenants: Int { 64 }

    func value(
        of tenant: TenantID, at now: Date, _ read: () async throws -> Value
    ) async throws -> Value {
        let known = tenants.withLock { $0[tenant] }
        if let known, now.timeIntervalSince(known.at) < Self.lifetime { return known.value }
        let value = try await read()
        tenants.withLock { tenants in
            if tenants.count >= Self.maximumTenants { tenants.removeAll() }
            tenants[tenant] = (value, now)
        }
        return value
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
