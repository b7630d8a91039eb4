import Locations
import Tenancy

extension LocationDirectory {
    /// A directory that finds no signature authentic and records nothing.
    static let effectless = LocationDirectory(signatures: NoSignatures(), recorder: NoRecorder())

    private struct NoSignatures: PlaceSignatures {
        func isAuthentic(_ signature: [UInt8], of text: String, tenant: TenantID) -> Bool { false }
    }

    private struct NoRecorder: ConfirmationRecorder {
        func record(_ record: ConfirmationRecord, of tenant: TenantID) {}
    }
}
