import ArgumentParser
import Formats

/// Times what a request costs between the socket and the store.
struct MicroCommand: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table
        case json
    }

    static let configuration = CommandConfiguration(
        commandName: "micro",
        abstract: "Time the pure parts of Doorstep on one thread.",
        discussion: """
            A figure is the mean of one batch of calls; p50 and p99 are taken over the batches. Allocations \
            are counted in a batch of their own. Build with -c release.
            """)

    @Option(help: "How to print.")
    var format = Format.table

    @Option(help: "How many batches to time, each of about 50 microseconds.")
    var batches = 2_000

    @Option(help: "Time only what is named so.")
    var only: String?

    func validate() throws {
        guard batches > 0 else { throw ValidationError("--batches must be positive") }
    }

    func run() throws {
        let workloads = try Workload.all().filter { only == nil || $0.name == only }
        guard !workloads.isEmpty else { throw ValidationError("--only names nothing that is timed") }
        let measurements = try workloads.map { try $0.measure(batches) }
        switch format {
        case .table: print(Measurement.table(measurements))
        case .json: print(JSONValue.array(measurements.map(\.json)).prettyPrinted())
        }
    }
}
