import Confirmations
import Synchronization
import Tenancy

/// Stores confirmations in memory, in their order.
final class MemoryRecorder: ConfirmationRecorder {
    private let kept = Mutex<[(tenant: TenantID, record: ConfirmationRecord)]>([])

    var records: [(tenant: TenantID, record: ConfirmationRecord)] { kept.withLock { $0 } }

    func record(_ record: ConfirmationRecord, of tenant: TenantID) {
        kept.withLock { $0.append((tenant, record)) }
    }
}
