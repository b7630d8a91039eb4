import ArgumentParser

/// Whether dependents are deleted, too.
struct DeletionOptions: ParsableArguments {
    @Flag(help: "Also delete dependents, in the same transaction.") var cascade = false
}

extension ParsableCommand {
    /// Refuses an update without options.
    func requireChange(_ isNamed: Bool...) throws {
        guard isNamed.contains(true) else { throw ValidationError("name what to change") }
    }
}
