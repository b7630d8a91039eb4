import Administration
import ArgumentParser
import Formats
import Invocation
import OutboundHTTP
import Tenancy
import TenantSites

extension DomainCommand {
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract:
                "Check a live site's association file, or a page, as iOS does.",
            discussion: """
                With --page, the command checks the page's App Clip banner or card and its preview in Messages. It \
                follows redirects and uses the association file of the last host. It needs no database. Exits with 1 \
                if a check fails.

                Example: doorstep domain check shop.example.com --clip ABCDE12345.com.example.MyApp.Clip
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var outbound: OutboundOptions
        @Option(help: "URL of the association file, instead of the domain's own file.") var url: String?
        @Option(help: "URL of a page to check, instead of a domain's file.") var page: String?
        @Option(help: "App ID of a clip that must be listed, such as ABCDE12345.com.example.MyApp.Clip.")
        var clip: AppID?
        @Option(
            name: .customLong("parent-bundle-id"),
            help: "Bundle ID of the clip's app. (default: the clip's without its last component)")
        var parentBundleID: BundleID?
        @Argument(help: "Domain.") var host: DomainName?

        func validate() throws {
            guard parentBundleID == nil || clip != nil && page == nil else {
                throw ValidationError("--parent-bundle-id requires --clip and excludes --page")
            }
            guard (host == nil) != (page == nil) else { throw ValidationError("name a domain, or a --page") }
            guard page == nil || url == nil else {
                throw ValidationError("--url requires a domain and excludes --page")
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
