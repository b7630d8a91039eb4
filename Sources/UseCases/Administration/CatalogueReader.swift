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
    /// All columns of locations' ``LocationRecord/furtherFields``, in byte order.
    func furtherLocationColumns() async throws -> [String]
    /// All columns of experiences' ``ExperienceRecord/furtherFields``, in byte order.
    func furtherExperienceColumns() async throws -> [String]
    /// Sorted by identifier.
    func eachLocation(_ body: (LocationRecord) throws -> Void) async throws
    /// Sorted by URL, then by kind.
    func eachExperience(_ body: (ExperienceRecord) throws -> Void) async throws
    /// Sorted by code.
    func eachShortCode(_ body: (ShortCode) throws -> Void) async throws
}
