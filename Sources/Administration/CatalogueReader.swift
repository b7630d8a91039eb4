public import Foundation

/// Reads all that is one tenant's as it was at one moment.
///
/// What can be a million rows is handed over row by row, so that memory is bounded whoever reads.
public protocol CatalogueReader: Sendable {
    var tenant: Tenant { get }

    /// By bundle ID.
    func clips() async throws -> [Clip]
    /// By host.
    func claims() async throws -> [HostClaim]
    /// The names that any location's metadata has, by their bytes.
    func metadataColumns() async throws -> [String]
    /// By identifier.
    func eachLocation(_ body: (LocationRecord) throws -> Void) async throws
    /// By URL, then kind.
    func eachExperience(_ body: (ExperienceRecord) throws -> Void) async throws
    /// By code.
    func eachShortCode(_ body: (ShortCode) throws -> Void) async throws
}

/// A host that a tenant says is its own.
public struct HostClaim: Sendable, Hashable {
    public let host: String
    /// When that was proved; nil while it is a claim.
    public let provedAt: Date?

    public init(host: String, provedAt: Date?) {
        self.host = host
        self.provedAt = provedAt
    }
}
