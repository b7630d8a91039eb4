public import Formats
import Foundation
public import Invocation
public import Tenancy

/// The identity of a request: its sender's key and all its content.
public struct IdempotencyKey: Sendable, Hashable {
    public let text: String
    /// The restriction that results belong to: that of keys with these locations, nil for unrestricted keys. The successor of a
    /// key has the same restriction, and gets the same responses.
    public let locations: Set<LocationIdentifier>?
    /// The tenant and the whole content of the request, independent of its notation.
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
