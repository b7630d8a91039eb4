import Formats
import Foundation
import Notifications
import Synchronization
import Tenancy

/// Stores idempotency keys in memory.
final class MemoryIdempotencyStore: IdempotencyStore {
    private struct Row {
        let request: [UInt8]
        let claim: IdempotencyClaim
        var response: [UInt8]?
        /// Whether the row stays without a response.
        var isLost = false
    }

    private let rows = Mutex<[TenantID: [String: Row]]>([:])

    func claim(_ key: IdempotencyKey, of tenant: TenantID) async throws -> IdempotencyClaim.Outcome {
        rows.withLock { rows in
            guard let row = rows[tenant]?[key.text] else {
                let claim = IdempotencyClaim(tenant: tenant, key: key.text, id: UUID())
                rows[tenant, default: [:]][key.text] = Row(request: key.request, claim: claim)
                return .claimed(claim)
            }
            guard row.request == key.request else { return .reused }
            if let response = row.response { return .completed(row.claim, sealedResponse: response) }
            return row.isLost ? .responseLost : .inUse
        }
    }

    func complete(_ claim: IdempotencyClaim, with sealedResponse: [UInt8]) async throws {
        rows.withLock { $0[claim.tenant]?[claim.key]?.response = sealedResponse }
    }

    func release(_ claim: IdempotencyClaim) async throws {
        rows.withLock { $0[claim.tenant]?[claim.key] = nil }
    }

    /// Forgets the response to a request.
    func lose(_ key: String, of tenant: TenantID) {
        rows.withLock { rows in
            rows[tenant]?[key]?.response = nil
            rows[tenant]?[key]?.isLost = true
        }
    }

    /// All bytes that are stored for responses.
    var storedBytes: [UInt8] {
        rows.withLock { rows in rows.values.flatMap(\.values).flatMap { $0.response ?? [] } }
    }
}
