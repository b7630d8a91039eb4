import ArgumentParser
import Platform

/// The command: `doorstep --help` lists its subcommands.
///
/// An error is printed on one line of standard error, and the exit status is 1.
///
/// Each command states its name. ArgumentParser would otherwise derive all names at each start, by slow reflection.
@main
struct DoorstepCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doorstep",
        abstract: "Run and manage the backend for App Clips at physical locations.",
        discussion: """
            A flag wins over the environment, and the environment over the default. Exit status: 0 done, 1 refused \
            or failed, 64 wrong usage.

            Example: doorstep serve --embedded-postgres ./db
            """,
        version: BuildInfo.current.description,
        subcommands: [
            ServerCommand<ServeAction>.self, ConsoleCommand.self, ServerCommand<DoctorAction>.self,
            SettingsCommand.self,
            CompletionsCommand.self,
            LoginCommand.self, LogoutCommand.self, WhoamiCommand.self,
            MigrateCommand.self, StatusCommand.self,
            TenantCommand.self, ClipCommand.self, ImageCommand.self, AppStoreCommand.self, DomainCommand.self,
            LocationCommand.self, ExperienceCommand.self, CodeCommand.self, KeyCommand.self,
            AttestKeyCommand.self, AttestationCommand.self, ReceiptKeyCommand.self,
            LookupCommand.self, ConfirmCommand.self, PayloadCommand.self, InstanceCommand.self,
            SendCommand.self, DeliveryCommand.self, WebhookCommand.self, DiagnoseCommand.self,
            ConfirmationCommand.self, StatisticsCommand.self, AuditCommand.self,
            RequestCommand.self, APNsSimulatorCommand.self,
            AppStoreSimulatorCommand.self, AttestSimulatorCommand.self, PostgresCommand.self,
        ])

    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.prefix(while: { $0 != "--" }).contains(DatabaseOptions.helpFlag) {
            print(DatabaseOptions.help)
        } else if let misspelled = MisspelledCommand(in: arguments, of: Self.self) {
            misspelled.exit()
        } else {
            await main(nil)
        }
    }
}
