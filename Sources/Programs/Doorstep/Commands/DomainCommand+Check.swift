import Administration
import AppSiteAssociation
import ArgumentParser
import DomainProof
import JSON
import OutboundHTTP
import Tenancy

extension DomainCommand {
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Tell what iOS would refuse of a live site's association file, or of a page, point by point.",
            discussion: """
                With --page, what the page lacks for the App Clip's banner or card and for a preview in Messages; redirects are \
                followed, and the association of the host where they end counts. Needs no database. Ends with 1 when a \
                point fails.
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var outbound: OutboundOptions
        @Option(help: "Fetch this instead of the domain's own file.") var url: String?
        @Option(help: "Look at this page instead of a domain's file.") var page: String?
        @Option(help: "A clip that must be listed, such as ABCDE12345.com.example.MyApp.Clip.") var clip:
            AppID?
        @Option(
            name: .customLong("parent-bundle-id"),
            help: "The bundle ID of the clip's app. (default: all but the last component of the clip's)")
        var parentBundleID: BundleID?
        @Argument(help: "The domain.") var host: DomainName?

        func validate() throws {
            guard parentBundleID == nil || clip != nil && page == nil else {
                throw ValidationError("--parent-bundle-id goes with --clip, and not with --page")
            }
            guard (host == nil) != (page == nil) else { throw ValidationError("name a domain, or a --page") }
            guard page == nil || url == nil else {
                throw ValidationError("--url goes with a domain, and not with --page")
            }
        }

        func run() async throws {
            if let page { return try await check(page: page) }
            if let host { try await check(host) }
        }

        private func check(page: String) async throws {
            let check = try await OutboundClient.withClient(outbound.settings()) { client in
                await PageCheck.run(page, clip: clip?.bundleID, HTTPPageFetcher(client))
            }
            try report(
                check.findings.map {
                    row($0.point.rawValue, $0.verdict, $0.point.authority, $0.detail)
                }, of: ["page": .string(page), "url": .string(check.url)], hasFailed: check.hasFailed)
        }

        private func check(_ host: DomainName) async throws {
            let check = try await OutboundClient.withClient(outbound.settings()) { client in
                await SiteCheck.run(
                    url ?? SiteCheck.url(of: host), clip: clip, app: app, HTTPPageFetcher(client))
            }
            try report(
                check.findings.map {
                    row($0.point.rawValue, $0.verdict, $0.authority, $0.detail)
                }, of: ["host": .string(host.text), "url": .string(check.url)], hasFailed: check.hasFailed)
        }

        private var app: AppID? {
            guard let clip, let parentBundleID else { return nil }
            return AppID(prefix: clip.prefix, bundleID: parentBundleID)
        }

        private func row(
            _ point: String, _ verdict: SiteCheck.Verdict, _ authority: SiteCheck.Authority, _ detail: String
        ) -> JSONObject {
            [
                "point": .string(point), "verdict": .string(verdict.rawValue),
                "authority": .string(authority.rawValue), "detail": .string(detail),
            ]
        }

        private func report(_ rows: [JSONObject], of subject: JSONObject, hasFailed: Bool) throws {
            switch output.format {
            case .table: output.print(rows, columns: ["point", "verdict", "authority", "detail"])
            case .json:
                var report = subject
                report["passed"] = .bool(!hasFailed)
                report["points"] = .array(rows.map(JSONValue.object))
                output.print(report, line: "")
            }
            if hasFailed { throw ExitCode.failure }
        }
    }
}
