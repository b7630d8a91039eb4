import AppAttest
import Confirmations
import Foundation
import Synchronization
import Tenancy

/// Counts attestations in memory.
final class MemoryAttestationCounts: AttestationRecorder {
    private let state = Mutex<[String: [RequestAttestation.Grade: Int]]>([:])

    /// By clip and operation, such as `com.example.MyApp.Clip confirm`.
    var counts: [String: [RequestAttestation.Grade: Int]] { state.withLock { $0 } }

    func record(
        _ grade: RequestAttestation.Grade, of clip: BundleID, for operation: ClipAttestation.Operation,
        _ tenant: TenantID, at now: Date
    ) {
        state.withLock { $0["\(clip) \(operation.rawValue)", default: [:]][grade, default: 0] += 1 }
    }
}
