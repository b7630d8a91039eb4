import ArgumentParser

/// The command.
@main
struct BenchmarksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Benchmarks",
        abstract: "Time what Doorstep does before and after the socket.",
        subcommands: [
            MicroCommand.self, ScaleCommand.self, NearbyCommand.self, OutboxCommand.self, APNsCommand.self,
            AttestationCommand.self,
        ],
        defaultSubcommand: MicroCommand.self)
}
