import Administration
import ArgumentParser
import DomainProof
import Foundation

/// Whom a command asks for the proof of a domain.
struct ProofOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The DNS server to ask, instead of those of /etc/resolv.conf.", valueName: "address[:port]"))
    var resolver: NameServer?

    @OptionGroup var authorities: AuthorityOptions

    /// Lends what looks for proofs.
    func withVerification<Result: Sendable>(
        _ store: any DomainStore, detour: AsyncHTTPPageFetcher.Detour? = nil,
        _ body: (DomainVerification) async throws -> Result
    ) async throws -> Result {
        try await AsyncHTTPPageFetcher.withFetcher(detour: detour, authorities: authorities.path()) {
            fetcher in
            try await body(
                DomainVerification(
                    store: store, resolver: LibresolvTextRecordResolver(server: resolver), fetcher: fetcher))
        }
    }
}

/// Whose certificates a command trusts.
struct AuthorityOptions: ParsableArguments {
    @Option(
        name: .customLong("ca-file"),
        help: ArgumentHelp(
            "Certificates (PEM) to trust instead of the system's, for a server inside.", valueName: "file"))
    var file: String?

    func path() throws(CommandError) -> String? {
        if let file, !FileManager.default.isReadableFile(atPath: file) { throw .unreadableFile(file) }
        return file
    }
}
