import AppStoreSync
import ArgumentParser
import Formats
import Foundation
import Platform

extension AppStoreCommand {
    struct Plan: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "plan",
            abstract:
                "Show the changes to make at App Store Connect, and how many requests they need.",
            discussion: """
                Changes nothing at Apple. Exit status: 0 if there is nothing to do, 2 if there are changes or \
                blocked items, 1 if the plan could not be made. 'apply FILE' does exactly the changes that -o \
                writes.

                Example: doorstep appstore plan -o plan.json
                """)

        @OptionGroup var registration: SyncOptions
        @OptionGroup var plan: PlanOptions
        @OptionGroup var output: OutputOptions
        @Flag(help: "Also list experiences that Doorstep did not create.") var unmanaged = false
        @Option(
            name: [.customShort("o"), .customLong("output")],
            help: "File to write the plan to, readable by its owner only; 'apply' reads it.",
            completion: .file()
        )
        var file: String?

        func run() async throws {
            let wishes = plan.wishes
            if let file { try SavedPlan.tryToWrite(to: file) }
            let (survey, saved) = try await registration.withRegistrar(readsOnly: true) {
                registrar, clip, tenant in
                let survey = try await registrar.plan(wishes)
                return (survey, SavedPlan(survey, of: clip, tenant, wishes, at: Date()))
            }
            if let file { try saved.write(to: file) }
            output.print(
                survey.json(showsUnmanaged: unmanaged), line: survey.text(showsUnmanaged: unmanaged))
            if !survey.isInStep { throw ExitCode.changesFound }
        }
    }

    struct Apply: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "apply",
            abstract: "Apply the plan, and check the result.",
            discussion: """
                You can stop this command at any time and run it again: it records each request before it sends it, \
                and creates nothing twice. Removals come last. Exit status: 0 if everything that is not blocked was \
                done, 1 if a change failed; the output has Apple's error code.

                With a file of 'plan -o', it makes exactly the changes in the file. If the catalogue, the applied \
                state or App Store Connect has changed so that the plan would now differ, it changes nothing, prints \
                'stale_plan' and exits with 1. Changes of the plan that are already done do not matter.

                Example: doorstep appstore apply plan.json
                """)

        @OptionGroup var registration: SyncOptions
        @OptionGroup var plan: PlanOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "Maximum number of changes in this run.") var limit: Int?
        @Flag(help: "Show the plan, as 'plan' does, and change nothing.") var dryRun = false
        @Argument(help: "File written by 'plan -o'.", completion: .file()) var file: String?

        func validate() throws {
            guard limit ?? 1 > 0 else { throw ValidationError("--limit must be 1 or more") }
            guard file == nil || plan.wishes == SyncRunner.Wishes() else {
                throw ValidationError("these options belong to 'plan'; the plan's file already contains them")
            }
        }

        func run() async throws {
            let saved: SavedPlan?
            if let file { saved = try await SavedPlan.read(from: file) } else { saved = nil }
            var wishes = plan.wishes
            wishes.limit = limit
            if dryRun {
                let survey = try await registration.withRegistrar(readsOnly: true, for: saved) {
                    [wishes] registrar, _, _ in
                    if let saved { return try await registrar.plan(saved) }
                    return try await registrar.plan(wishes)
                }
                output.print(survey.json(), line: survey.text())
                if !survey.isInStep { throw ExitCode.changesFound }
                return
            }
            let bar = ProgressBar(total: nil)
            let show = { @Sendable (progress: SyncProgress) in
                let end =
                    progress.end.map { ", until about \($0.formatted(.iso8601.dateSeparator(.dash)))" } ?? ""
                bar.show(progress.done, of: progress.total, "\(progress.done) of \(progress.total)\(end)")
            }
            let outcome = try await registration.withRegistrar(readsOnly: false, for: saved) {
                [wishes, limit] registrar, _, _ in
                if let saved { return try await registrar.apply(saved, limit: limit, progress: show) }
                return try await registrar.apply(wishes, progress: show)
            }
            bar.finish()
            output.print(outcome.json, line: outcome.text)
            if let failure = outcome.stopped ?? outcome.createsNoMore { throw failure }
            guard outcome.hasSucceeded else { throw ExitCode.failure }
        }
    }

    struct Drift: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drift",
            abstract: "Show changes and removals that others made at App Store Connect.",
            discussion: """
                Reads only, with tokens that allow nothing else. Servers run the same check every --drift-interval \
                hours; the API returns their last result, and webhooks receive an event when the result changes. \
                Exit status: 0 if there is no drift, 2 if there is, 1 if the check was not possible, for example \
                while a plan is being applied. Experiences that Doorstep did not create, duplicates and Maps places \
                are listed as well.

                Example: doorstep appstore drift
                """)

        @OptionGroup var registration: SyncOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let survey = try await registration.check {
                output.print($0.driftJSON, line: $0.driftText)
            }
            if !survey.drifted.isEmpty || !survey.missing.isEmpty { throw ExitCode.changesFound }
        }
    }
}

extension SavedPlan {
    /// The maximum length of a plan's file. It has room for plans of 200,000 experiences. [ours]
    private static let maximumLength = 1 << 28

    /// Fails before any request if the file cannot be written.
    fileprivate static func tryToWrite(to path: String) throws {
        do {
            _ = try UnfinishedFile(for: path)
        } catch {
            throw CommandError.unwritableFile(path)
        }
    }

    /// Moves the complete file to its place.
    fileprivate func write(to path: String) throws {
        do {
            var file = try UnfinishedFile(for: path)
            try file.handle.write(contentsOf: Data(JSONValue.object(json).serialized()))
            try file.putInPlace()
        } catch {
            throw CommandError.unwritableFile(path)
        }
    }

    fileprivate static func read(from path: String) async throws -> SavedPlan {
        let bytes = try await InputFile(path: path).bytes(limit: maximumLength) { _ in
            SyncError.notAPlan("it has more than \(maximumLength) bytes")
        }
        guard let json = try? JSONValue(parsing: bytes) else {
            throw SyncError.notAPlan("it is not JSON")
        }
        return try SavedPlan(json: json)
    }
}

extension ExitCode {
    /// The exit status of `plan` and `drift` if there is a difference.
    fileprivate static let changesFound = ExitCode(2)
}
