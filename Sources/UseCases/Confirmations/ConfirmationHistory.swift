public import Foundation
public import Tenancy

/// Reads the stored confirmations of tenants, and counts what happened at their locations.
public protocol ConfirmationHistory: Sendable {
    /// The newest first, from before one on, up to `limit`.
    func latest(
        _ selection: ConfirmationSelection, of tenant: TenantID, before last: ConfirmationCursor?, limit: Int
    ) async throws -> [RecordedConfirmation]

    /// The oldest first, after one, up to `limit`.
    func oldest(
        _ selection: ConfirmationSelection, of tenant: TenantID, after last: ConfirmationCursor?, limit: Int
    ) async throws -> [RecordedConfirmation]

    /// The number of confirmations of each outcome on each UTC day, newest day first. Days without confirmations are omitted.
    func counts(
        _ selection: ConfirmationSelection, of tenant: TenantID
    ) async throws -> [ConfirmationCounts]

    /// The counts of lookups, confirmations, launch reports and deliveries, by an attribute. Groups without an event are omitted.
    func statistics(
        _ selection: ConfirmationSelection, by grouping: StatisticsGrouping, of tenant: TenantID,
        _ order: StatisticsOrder, limit: Int
    ) async throws -> [Statistics]
}

/// The position of a confirmation in a tenant's history.
public struct ConfirmationCursor: Sendable, Hashable {
    public let minute: Date
    /// Distinguishes records of the same minute.
    public let id: UUID

    public init(minute: Date, id: UUID) {
        self.minute = minute
        self.id = id
    }
}

extension RecordedConfirmation {
    public var place: ConfirmationCursor { ConfirmationCursor(minute: record.minute, id: id) }
}
