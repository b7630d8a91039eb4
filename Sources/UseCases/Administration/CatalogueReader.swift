/// Reads all data of a tenant from one snapshot.
///
/// Methods that may read a million rows pass them one by one, so that memory is bounded.
public protocol CatalogueReader: Sendable {
    var tenant: Tenant { get }

    /// Sorted by bundle ID.
    func clips() async throws -> [Clip]
    /// Sorted by digest, each with its file.
    func eachImage(_ body: (CardImage) throws -> Void) async throws
    /// Sorted by host.
    func domains() async throws -> [DomainRecord]
    /// All columns of the items' ``CollectionResource/furtherFields``, in byte order.
    func furtherColumns<Item: CollectionResource>(of: Item.Type) async throws -> [String]
    /// Sorted by key; experiences by URL, then by kind.
    func each<Item: CollectionResource>(_: Item.Type, _ body: (Item) throws -> Void) async throws
}
