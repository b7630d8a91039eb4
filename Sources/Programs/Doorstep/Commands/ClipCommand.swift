import Administration
import ArgumentParser
import JSON
import Tenancy

struct ClipCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clip", abstract: "Create and list a tenant's App Clips.",
        subcommands: [Create.self, List.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create an App Clip.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(name: .customLong("team-id"), help: "Ten characters, such as ABCDE12345.") var teamID: TeamID
        @Option(name: .customLong("bundle-id"), help: "The clip's, such as com.example.MyApp.Clip.")
        var bundleID: BundleID
        @Option(
            name: .customLong("app-id-prefix"),
            help:
                "What the App IDs of the clip and its app begin with, for an app older than team IDs. (default: the team ID)"
        )
        var appIDPrefix: AppIDPrefix?
        @Flag(name: .customLong("multi-business"), help: "The clip serves many businesses.")
        var isMultiBusiness = false

        func run() async throws {
            let clip = try Clip(
                bundleID: bundleID, teamID: teamID, appIDPrefix: appIDPrefix, isMultiBusiness: isMultiBusiness
            )
            try await tenant.withTenant { store, tenant in try await store.createClip(clip, of: tenant.id) }
            output.print(JSONObject(clip), line: "Created clip \(bundleID)")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List a tenant's App Clips.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let clips = try await tenant.withTenant { store, tenant in try await store.clips(of: tenant.id) }
            output.print(
                clips.map { JSONObject($0) },
                columns: ["bundleID", "parentBundleID", "teamID", "appIDPrefix", "multiBusiness"])
        }
    }
}
