import Administration
import AppAttest
import AppSiteAssociation
import ArgumentParser
import Cards
import JSON
import Tenancy

struct ClipCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clip", abstract: "A tenant's App Clips.",
        subcommands: [Create.self, List.self, Show.self, Update.self, Attest.self, Delete.self])

    fileprivate static let columns = ["bundleID", "parentBundleID", "teamID", "appIDPrefix", "multiBusiness"]

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create an App Clip.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(name: .customLong("team-id"), help: "Ten characters, such as ABCDE12345.") var teamID: TeamID
        @Option(name: .customLong("bundle-id"), help: "The clip's, such as com.example.MyApp.Clip.")
        var bundleID: BundleID
        @Option(
            name: .customLong("parent-bundle-id"),
            help: "The bundle ID of the clip's app. (default: all but the last component of the clip's)")
        var parentBundleID: BundleID?
        @Option(
            name: .customLong("app-id-prefix"),
            help:
                "What the App IDs of the clip and its app begin with, for an app older than team IDs. (default: the team ID)"
        )
        var appIDPrefix: AppIDPrefix?
        @Flag(name: .customLong("multi-business"), help: "The clip serves many businesses.")
        var isMultiBusiness = false
        @OptionGroup var links: LinkOptions
        @OptionGroup var card: CardOptions

        func run() async throws {
            let clip = try Clip(
                bundleID: bundleID, parentBundleID: parentBundleID, teamID: teamID, appIDPrefix: appIDPrefix,
                isMultiBusiness: isMultiBusiness,
                links: links.changing(.none), card: await card.patch()(Card()))
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
        @Option(name: .customLong("parent-bundle-id"), help: "The bundle ID of the clip's app.")
        var parentBundleID: BundleID?
        @Option(
            name: .customLong("app-id-prefix"), help: "What the App IDs of the clip and its app begin with.")
        var appIDPrefix: AppIDPrefix?
        @Flag(
            name: .customLong("multi-business"), inversion: .prefixedNo,
            help: "Whether the clip serves many businesses.")
        var isMultiBusiness: Bool?
        @OptionGroup var links: LinkOptions
        @OptionGroup var card: CardOptions

        func validate() throws {
            try requireChange(
                teamID != nil, parentBundleID != nil, appIDPrefix != nil, isMultiBusiness != nil,
                links.isGiven, card.isGiven)
        }

        func run() async throws {
            let patch = try await card.patch()
            let clip = try await tenant.withItems(\.clips) { clips in
                try await clips.update(bundleID) { clip in
                    try Clip(
                        bundleID: bundleID, parentBundleID: parentBundleID ?? clip.parentBundleID,
                        teamID: teamID ?? clip.teamID,
                        appIDPrefix: appIDPrefix ?? clip.ownAppIDPrefix,
                        isMultiBusiness: isMultiBusiness ?? clip.isMultiBusiness,
                        attestation: clip.attestation, links: links.changing(clip.links),
                        card: patch(clip.card))
                }
            }
            output.print(clip.json, line: "Updated clip \(bundleID)")
        }
    }

    struct Attest: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say what a clip's requests must bring of App Attest; what is not named stays.",
            discussion: """
                'monitor' counts what requests bring and refuses none: what would be refused is in the metric \
                doorstep_attestation_checks_total. Secret keys are never asked. The App IDs that are taken are those of \
                'clip create --team-id' and '--app-id-prefix'. What is to be required must have been monitored: \
                \(MonitoredAttestations.required) requests of the last \(MonitoredAttestations.days) days brought it.
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The clip's bundle ID.") var bundleID: BundleID
        @Option(help: "Set the attestation policy for lookup and nearby: off, monitor, require.")
        var lookup: ClipAttestation.Demand?
        @Option(help: "Set the attestation policy for confirmations: off, monitor, require, require_signed.")
        var confirm: ClipAttestation.ConfirmationDemand?
        @Option(help: "Set the attestation policy for registering instances: off, monitor, require.")
        var register: ClipAttestation.Demand?
        @Option(
            name: .customLong("environment"),
            help: "Whose keys are taken, production or development; can be repeated.")
        var environments: [AttestationEnvironment] = []
        @Option(
            name: .customLong("category"),
            help: "How builds may have come to the device, such as app_store; can be repeated.")
        var categories: [ValidationCategory] = []
        @Flag(
            name: .customLong("require-statements"), inversion: .prefixedNo,
            help: "Whether a device that does not say how its build came to it is refused, as before iOS 27.")
        var requiresStatements: Bool?
        @Option(help: "How many of a hundred installations are told to attest.") var ramp: Int?
        @Flag(help: "Ask for nothing any more.") var none = false
        @Flag(help: "Require also what monitoring has seen too little of.") var yes = false

        func validate() throws {
            let isChanged =
                lookup != nil || confirm != nil || register != nil || !environments.isEmpty
                || !categories.isEmpty || requiresStatements != nil
            try requireChange(isChanged, ramp != nil, none)
            guard !none || !isChanged && ramp == nil else {
                throw ValidationError("--none goes with no other option")
            }
            guard ramp.map(ClipAttestation.ramps.contains) ?? true else {
                throw ValidationError("--ramp is 0 to 100")
            }
        }

        func run() async throws {
            let clip = try await tenant.withItems(\.clips) { clips in
                try await clips.update(bundleID, force: yes) { clip in
                    var clip = clip
                    clip.attestation = none ? nil : changed(clip.attestation ?? ClipAttestation())
                    return clip
                }
            }
            output.print(clip.json, line: "Updated clip \(bundleID)")
        }

        private func changed(_ attestation: ClipAttestation) -> ClipAttestation {
            var attestation = attestation
            attestation.lookup = lookup ?? attestation.lookup
            attestation.confirm = confirm ?? attestation.confirm
            attestation.register = register ?? attestation.register
            if !environments.isEmpty { attestation.environments = Set(environments) }
            if !categories.isEmpty { attestation.categories = Set(categories) }
            attestation.requiresStatements = requiresStatements ?? attestation.requiresStatements
            attestation.ramp = ramp ?? attestation.ramp
            return attestation
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

/// Where people get a clip's app; empty for what is not to be said any more.
struct LinkOptions: ParsableArguments {
    @Option(
        name: .customLong("app-store-id"),
        help: "The app's number in the App Store, such as 1234567890; empty for none.")
    var appStoreID: String?
    @Option(name: .customLong("android-url"), help: "Where people with Android are led; empty for nowhere.")
    var androidURL: String?
    @Option(name: .customLong("site-name"), help: "What the site calls itself; empty for nothing.")
    var siteName: String?

    var isGiven: Bool { appStoreID != nil || androidURL != nil || siteName != nil }

    func changing(_ links: ClipLinks) throws -> ClipLinks {
        let name = siteName.given(or: links.siteName?.text)
        return try ClipLinks(
            appStoreID: appStoreID.given(or: links.appStoreID),
            androidURL: androidURL.given(or: links.androidURL), siteName: name.map { try DisplayName($0) })
    }
}

extension String? {
    /// What an option gives, where empty stands for nothing, or what there was.
    func given(or old: String?) -> String? {
        map { $0.isEmpty ? nil : $0 } ?? old
    }
}
