import Administration
import ArgumentParser
import DNSClient
import DomainProof
import Foundation
import OutboundHTTP

/// Whom a command asks for the proof of a domain.
struct ProofOptions: ParsableArguments {
    @Option(Settings.resolver) var nameServer: NameServer?
    @OptionGroup var outbound: OutboundOptions

    /// Whether no flag says whom to ask.
    var isDefault: Bool { nameServer == nil && outbound.file == nil && outbound.allowed.isEmpty }

    func resolver() throws -> NameServer? { try Settings.resolver.value(nameServer) }

    /// Lends what looks for proofs.
    func withVerification<Result: Sendable>(
        _ store: any DomainStore, detour: OutboundClient.Detour? = nil,
        _ body: (DomainVerification) async throws -> Result
    ) async throws -> Result {
        let resolver = LibresolvTextRecordResolver(server: try resolver())
        return try await OutboundClient.withClient(outbound.settings(), detour: detour) { client in
            try await body(
                DomainVerification(
                    store: store, resolver: resolver,
                    fetcher: HTTPPageFetcher(client)))
        }
    }
}
