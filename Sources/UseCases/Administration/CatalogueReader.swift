/// Reads all that is one tenant's as it was at one moment.
///
/// Methods that may read a million rows deliver them one by one, so that memory is bounded.
public protocol CatalogueReader: Sendable {
    var tenant: Tenant { get }

    /// By bundle ID.
    func clips() async throws -> [Clip]
    /// By digest, each with its file.
    func eachImage(_ body: (CardImage) throws -> Void) async throws
    /// By host.
    func domains() async throws -> [DomainRecord]
    /// The names that any location's ``LocationRecord/furtherFields`` have, by their bytes.
    func furtherLocationColumns() async throws -> [String]
    /// The columns that any experience's ``ExperienceRecord/furtherFields`` have, by their bytes.
    func furtherExperienceColumns() async throws -> [String]
    /// By identifier.
    func eachLocation(_ body: (LocationRecord) throws -> Void) async throws
    /// By URL, then kind.
    func eachExperience(_ body: (ExperienceRecord) throws -> Void) async throws
    /// By code.
    func eachShortCode(_ body: (ShortCode) throws -> Void) async throws
}
