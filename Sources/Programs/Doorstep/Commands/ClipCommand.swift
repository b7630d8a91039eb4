import Administration
import AppSiteAssociation
import ArgumentParser
import JSON
import Tenancy

struct ClipCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clip", abstract: "A tenant's App Clips.",
        subcommands: [Create.self, List.self, Show.self, Update.self, Delete.self])

    fileprivate static let columns = ["bundleID", "parentBundleID", "teamID", "appIDPrefix", "multiBusiness"]

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
            try await tenant.withItems(\.clips) { try await $0.create(clip) }
            output.print(clip.json, line: "Created clip \(bundleID)")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List a tenant's App Clips.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let clips = try await tenant.withItems(\.clips) { try await $0.list() }
            output.print(clips.map(\.json), columns: columns)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show an App Clip.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The clip's bundle ID.") var bundleID: BundleID

        func run() async throws {
            let clip = try await tenant.withItems(\.clips) { try await $0.show(bundleID) }
            output.print(clip.json, columns: columns)
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change an App Clip; what is not named stays.",
            discussion: "A prefix that is the team ID goes on being the team ID.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The clip's bundle ID.") var bundleID: BundleID
        @Option(name: .customLong("team-id"), help: "Ten characters, such as ABCDE12345.") var teamID: TeamID?
        @Option(
            name: .customLong("app-id-prefix"), help: "What the App IDs of the clip and its app begin with.")
        var appIDPrefix: AppIDPrefix?
        @Flag(
            name: .customLong("multi-business"), inversion: .prefixedNo,
            help: "Whether the clip serves many businesses.")
        var isMultiBusiness: Bool?

        func validate() throws {
            try requireChange(teamID != nil, appIDPrefix != nil, isMultiBusiness != nil)
        }

        func run() async throws {
            let clip = try await tenant.withItems(\.clips) { clips in
                try await clips.update(bundleID) { clip in
                    try Clip(
                        bundleID: bundleID, teamID: teamID ?? clip.teamID,
                        appIDPrefix: appIDPrefix ?? clip.ownAppIDPrefix,
                        isMultiBusiness: isMultiBusiness ?? clip.isMultiBusiness)
                }
            }
            output.print(clip.json, line: "Updated clip \(bundleID)")
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete an App Clip that nothing refers to.",
            discussion: "Channels are only forgotten: APNs keeps them.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var deletion: DeletionOptions
        @Argument(help: "The clip's bundle ID.") var bundleID: BundleID

        func run() async throws {
            let counts = try await tenant.withItems(\.clips) {
                try await $0.delete(bundleID, cascade: deletion.cascade)
            }
            output.printDeletion(of: "clip", bundleID.text, counts)
        }
    }
}
