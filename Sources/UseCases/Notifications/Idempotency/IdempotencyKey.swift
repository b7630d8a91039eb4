import Foundation
public import Invocation
public import JSON
public import Tenancy

/// What a request is known again by: its sender's key, and all it says.
public struct IdempotencyKey: Sendable, Hashable {
    public let text: String
    /// Among whose requests it is known: those of keys that are restricted to these locations, nil for those that are to
    /// none. A key's successor is restricted as it was, and is answered as it would be.
    public let locations: Set<LocationIdentifier>?
    /// The tenant and all that the request says, however it was written.
    public let request: [UInt8]

    /// Nil unless the key is 1 to 255 characters of printable ASCII.
    public init?(
        _ text: String, for request: JSONObject, of tenant: TenantID,
        within locations: Set<LocationIdentifier>? = nil
    ) {
        guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        self.text = text
        self.locations = locations
        self.request = Array(tenant.description.utf8) + JSONValue.object(request).serialized()
    }
}
