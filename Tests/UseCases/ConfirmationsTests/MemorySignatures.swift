import Lookups
import Tenancy

/// Signatures of tenants' texts. Every signature is the bytes of `good`, in base64url `Z29vZA`.
struct MemorySignatures: LocationSignatures {
    var signed: [TenantID: Set<String>] = [:]

    func isAuthentic(_ signature: [UInt8], of text: String, tenant: TenantID) -> Bool {
        signature == Array("good".utf8) && signed[tenant]?.contains(text) == true
    }
}
