public import Foundation
public import Tenancy

/// Reads the stored confirmations of tenants.
public protocol ConfirmationHistory: Sendable {
    /// The newest first, from before one on, up to `limit`.
    func latest(
        _ selection: ConfirmationSelection, of tenant: TenantID, before last: ConfirmationCursor?, limit: Int
    ) async throws -> [RecordedConfirmation]

    /// The oldest first, after one, up to `limit`.
    func oldest(
        _ selection: ConfirmationSelection, of tenant: TenantID, after last: ConfirmationCursor?, limit: Int
    ) async throws -> [RecordedConfirmation]

    /// How many of each outcome there were on each day of UTC that had any, the newest first.
    func counts(
        _ selection: ConfirmationSelection, of tenant: TenantID
    ) async throws -> [ConfirmationCounts]
}

/// Where a confirmation stands among a tenant's.
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
