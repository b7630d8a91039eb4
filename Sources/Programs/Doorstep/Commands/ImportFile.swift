import Administration
import ArgumentParser
import Formats
import Foundation
import Tenancy

/// The CSV file of an import, and its options.
struct ImportFile: ParsableArguments {
    @Argument(help: "CSV file; - for standard input.", completion: .file())
    var file: String

    @Flag(help: "Show the changes, and change nothing.") var dryRun = false
    @Flag(help: "Also remove items that the file lacks, at most half of all.") var prune = false
    @Option(help: ArgumentHelp("Maximum number of removals, instead of half of all.", valueName: "n"))
    var allowRemovals: Int?

    func validate() throws {
        guard let allowRemovals else { return }
        guard prune, allowRemovals >= 0 else {
            throw ValidationError("--allow-removals must be 0 or more, and requires --prune")
        }
    }

    /// Reads the file piece by piece with a progress bar, and applies its rows.
    func reading<Result>(
        _ body: (FileChunks, ImportOptions) async throws -> Result
    ) async throws -> Result {
        let options = ImportOptions(prunes: prune, isDryRun: dryRun, allowedRemovals: allowRemovals)
        if prune, !dryRun {
            FileHandle.standardError.write(Data("What \(file) does not have is removed\n".utf8))
        }
        return try await InputFile(path: file).reading { try await body(FileChunks(source: $0), options) }
    }

    /// Prints the result or the plan, or the invalid rows on standard error: the first hundred, then a count.
    func report(_ outcome: ImportOutcome, _ output: OutputOptions) throws {
        switch outcome {
        case .done(let counts):
            output.print(counts.json, line: line(counts))
        case .planned(let plan):
            output.print(plan.json, line: plan.lines(line(plan.counts)))
        case .refused(let problems):
            throw problems.reported(of: file)
        }
    }

    private func line(_ counts: ImportCounts) -> String {
        let removed = prune ? ", \(counts.removed) removed" : ""
        return "\(counts.added) added, \(counts.changed) changed\(removed), \(counts.unchanged) unchanged"
    }
}

extension ImportPlan {
    /// Prints that nothing was done, the planned changes, and the first items of each kind.
    fileprivate func lines(_ counts: String) -> String {
        let items = [
            ("add", added, self.counts.added), ("change", changed, self.counts.changed),
            ("remove", removed, self.counts.removed), ("in use", inUse.first, inUse.count),
        ].flatMap { action, items, count in
            let lines = items.map { item in
                "\(action) \(item.name)\(item.detail.isEmpty ? "" : ": \(item.detail)")"
            }
            return count > items.count ? lines + ["\(action) \(count - items.count) more"] : lines
        }
        let clearings = cleared.map { "clear \($0.field) of \($0.count)" }
        let refusal =
            removalsAreAllowed
            ? [] : ["As many are removed only with --allow-removals \(self.counts.removed)"]
        let quotas = quotas.map { quota in
            let usage =
                "quota of \(quota.kind.rawValue): \(quota.current) → \(quota.wouldBe) of \(quota.limit) \(quota.unit.rawValue)"
            return quota.isExceeded ? "\(usage): the import would be refused" : usage
        }
        return (["Nothing is changed; there would be \(counts)"] + items + clearings + refusal + quotas)
            .joined(
                separator: "\n")
    }
}

extension ImportProblems {
    /// Prints every invalid line of a file on standard error. Returns the error to end with.
    func reported(of file: String) -> CommandError {
        report { "\(file):\($0.line): \($0.text)" }
        return .importRefused(self)
    }

    /// Prints errors on standard error: the first hundred, then a count.
    func report(_ text: (ImportProblem) -> String) {
        var lines = first.map(text)
        if count > first.count { lines.append("and \(count - first.count) more") }
        FileHandle.standardError.write(Data(lines.map { $0 + "\n" }.joined().utf8))
    }
}
