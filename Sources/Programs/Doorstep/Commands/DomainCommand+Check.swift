import Administration
import AppSiteAssociation
import ArgumentParser
import DomainProof
import JSON
import OutboundHTTP

extension DomainCommand {
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tell what iOS would refuse of a live site's association file, point by point.",
            discussion: "Needs no database. Ends with 1 when a point fails.")

        @OptionGroup var output: OutputOptions
        @OptionGroup var outbound: OutboundOptions
        @Option(help: "Fetch this instead of the domain's own file.") var url: String?
        @Option(help: "A clip that must be listed, such as ABCDE12345.com.example.MyApp.Clip.") var clip:
            AppID?
        @Argument(help: "The domain.") var host: DomainName

        func run() async throws {
            let check = try await OutboundClient.withClient(outbound.settings()) { client in
                await SiteCheck.run(url ?? SiteCheck.url(of: host), clip: clip, HTTPPageFetcher(client))
            }
            let rows = check.findings.map { finding -> JSONObject in
                [
                    "point": .string(finding.point.rawValue), "verdict": .string(finding.verdict.rawValue),
                    "authority": .string(finding.point.authority.rawValue),
                    "detail": .string(finding.detail),
                ]
            }
            switch output.format {
            case .table: output.print(rows, columns: ["point", "verdict", "authority", "detail"])
            case .json:
                output.print(
                    [
                        "host": .string(host.text), "url": .string(check.url),
                        "passed": .bool(!check.hasFailed), "points": .array(rows.map(JSONValue.object)),
                    ], line: "")
            }
            if check.hasFailed { throw ExitCode.failure }
        }
    }
}
