public import Tenancy

/// A webhook, and whose it is.
public struct WebhookReference: Sendable, Hashable {
    public let tenant: TenantID
    public let id: WebhookID

    public init(_ id: WebhookID, of tenant: TenantID) {
        self.tenant = tenant
        self.id = id
    }
}

extension WebhookReference: Comparable {
    public static func < (one: WebhookReference, other: WebhookReference) -> Bool {
        (one.tenant, one.id.description) < (other.tenant, other.id.description)
    }
}
