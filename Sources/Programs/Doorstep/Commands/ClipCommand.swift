import Administration
import AppAttest
import ArgumentParser
import Cards
import Formats
import ServerClient
import Tenancy

struct ClipCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clip", abstract: "Manage a tenant's App Clips.",
        discussion: "Example: doorstep clip list",
        subcommands: [Create.self, List.self, Show.self, Update.self, Attest.self, Delete.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Create an App Clip.",
            discussion:
                "Example: doorstep clip create --team-id ABCDE12345 --bundle-id com.example.MyApp.Clip")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(
            name: .customLong("bundle-id"), help: "Bundle ID of the clip, such as com.example.MyApp.Clip.")
        var bundleID: BundleID
        @OptionGroup var fields: NewItemOptions<Clip>
        @OptionGroup var card: CardOptions

        func run() async throws {
            var clip = try Clip.read(fields.members, as: bundleID)
            clip.card = try await card.patch()(Card())
            try await tenant.withItems(Clip.self) { [clip] in try await $0.create(clip) }
            output.print(clip.json, line: "Created clip \(bundleID)")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List a tenant's App Clips.",
            discussion: "Example: doorstep clip list")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let clips = try await tenant.withItems(Clip.self) { try await $0.list() }
            output.print(clips.map(\.json), columns: Clip.tableColumns)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show an App Clip.",
            discussion: "Example: doorstep clip show com.example.MyApp.Clip")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Bundle ID of the clip.") var bundleID: BundleID

        func run() async throws {
            let clip = try await tenant.withItems(Clip.self) { try await $0.show(bundleID) }
            output.print(clip.json, columns: Clip.tableColumns)
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "update",
            abstract: "Change an App Clip; omitted options keep their values.",
            discussion: """
                If the prefix is the team ID, it follows a changed team ID.

                Example: doorstep clip update com.example.MyApp.Clip --app-store-id 1234567890
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Bundle ID of the clip.") var bundleID: BundleID
        @OptionGroup var fields: ItemChangeOptions<Clip>
        @OptionGroup var card: CardOptions

        func validate() throws {
            try requireChange(!fields.patch.isEmpty, card.isGiven)
        }

        func run() async throws {
            let cardPatch = try await card.patch()
            let clip = try await tenant.withItems(Clip.self) { clips in
                try await clips.update(bundleID) { clip in
                    var changed = try clip.patched(by: fields.patch)
                    changed.card = try cardPatch(clip.card)
                    return changed
                }
            }
            output.print(clip.json, line: "Updated clip \(bundleID)")
        }
    }

    struct Attest: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "attest",
            abstract: "Set which requests of a clip need App Attest; omitted options keep their values.",
            discussion: """
                'monitor' refuses no request and counts the results in the metric doorstep_attestation_checks_total. \
                Secret keys need no attestation. Accepted App IDs are those of 'clip create --team-id' and \
                '--app-id-prefix'. Before you require attestation, monitor it: \(MonitoredAttestations.required) \
                requests of the last \(MonitoredAttestations.days) days must have been attested.

                Example: doorstep clip attest com.example.MyApp.Clip --confirm monitor
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Bundle ID of the clip.") var bundleID: BundleID
        @Option(help: "Set the attestation policy for lookup and nearby: off, monitor, require.")
        var lookup: ClipAttestation.Demand?
        @Option(help: "Set the attestation policy for confirmations: off, monitor, require, require_signed.")
        var confirm: ClipAttestation.ConfirmationDemand?
        @Option(help: "Set the attestation policy for registering instances: off, monitor, require.")
        var register: ClipAttestation.Demand?
        @Option(
            name: .customLong("environment"),
            help: "Accepted environment of keys, production or development; can be repeated.")
        var environments: [AttestationEnvironment] = []
        @Option(
            name: .customLong("category"),
            help: "Accepted distribution of builds, such as test_flight; can be repeated.")
        var categories: [ValidationCategory] = []
        @Flag(
            name: .customLong("require-statements"), inversion: .prefixedNo,
            help: """
                Refuse devices that do not report the build's distribution (before iOS 27), or accept them.
                """)
        var requiresStatements: Bool?
        @Option(help: "Percentage of installations that are asked to attest, 0 to 100.") var ramp: Int?
        @Flag(help: "Require no attestation, and ask for none.") var none = false
        @Flag(help: "Require attestation although too few attested requests were monitored.") var yes = false

        func validate() throws {
            let isChanged =
                lookup != nil || confirm != nil || register != nil || !environments.isEmpty
                || !categories.isEmpty || requiresStatements != nil
            try requireChange(isChanged, ramp != nil, none)
            guard !none || !isChanged && ramp == nil else {
                throw ValidationError("--none excludes all other options")
            }
            guard ramp.map(ClipAttestation.ramps.contains) ?? true else {
                throw ValidationError("--ramp must be from 0 to 100")
            }
        }

        func run() async throws {
            let clip = try await tenant.withItems(Clip.self) { clips in
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
            commandName: "delete",
            abstract: "Delete an App Clip without dependents.",
            discussion: """
                Doorstep deletes its records of channels; APNs keeps the channels.

                Example: doorstep clip delete com.example.MyApp.Clip
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var deletion: DeletionOptions
        @Argument(help: "Bundle ID of the clip.") var bundleID: BundleID

        func run() async throws {
            let counts = try await tenant.withItems(Clip.self) {
                try await $0.delete(bundleID, cascade: deletion.cascade)
            }
            output.printDeletion(of: "clip", bundleID.text, counts)
        }
    }
}
