import Lookups
import Tenancy

/// Knows the texts that tenants signed; the signature of each is the bytes of `good`, in base64url `Z29vZA`.
struct MemorySignatures: LocationSignatures {
    var signed: [TenantID: Set<String>] = [:]

    func isAuthentic(_ signature: [UInt8], of text: String, tenant: TenantID) -> Bool {
        signature == Array("good".utf8) && signed[tenant]?.contains(text) == true
    }
}
