import Administration
import ArgumentParser
import Foundation
import OutboundHTTP
import TenantSites

/// The DNS server and addresses for a command's domain proofs.
struct ProofOptions: ParsableArguments {
    @Option(Settings.resolver) var nameServer: NameServer?
    @OptionGroup var outbound: OutboundOptions

    /// Whether no flag names a DNS server or an address.
    var isDefault: Bool { nameServer == nil && outbound.file == nil && outbound.allowed.isEmpty }

    func resolver() throws -> NameServer? { try Settings.resolver.value(nameServer) }

    /// Runs the closure with the verification of proofs.
    func withVerification<Result: Sendable>(
        _ store: any CatalogueStore<DomainRecord>, detour: OutboundClient.Detour? = nil,
        _ body: (DomainVerification) async throws -> Result
    ) async throws -> Result {
        let resolver = LibresolvTextRecordResolver(server: try resolver())
        return try await OutboundClient.withClient(outbound.settings(), detour: detour) { client in
            try await body(
                DomainVerification(
                    store: store, by: TenantOptions.actor, resolver: resolver,
                    fetcher: HTTPPageFetcher(client)))
        }
    }
}
