import Administration
import ArgumentParser
import DomainProof
import Foundation
import OutboundHTTP

/// Whom a command asks for the proof of a domain.
struct ProofOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The DNS server to ask, instead of those of /etc/resolv.conf.", valueName: "address[:port]"))
    var resolver: NameServer?

    @OptionGroup var outbound: OutboundOptions

    /// Lends what looks for proofs.
    func withVerification<Result: Sendable>(
        _ store: any DomainStore, detour: OutboundClient.Detour? = nil,
        _ body: (DomainVerification) async throws -> Result
    ) async throws -> Result {
        try await OutboundClient.withClient(outbound.settings(), detour: detour) { client in
            try await body(
                DomainVerification(
                    store: store, resolver: LibresolvTextRecordResolver(server: resolver),
                    fetcher: HTTPPageFetcher(client)))
        }
    }
}
