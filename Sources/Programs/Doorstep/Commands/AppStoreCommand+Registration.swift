import AppStoreSync
import ArgumentParser
import Foundation
import JSON
import Platform

extension AppStoreCommand {
    struct Plan: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Tell what is to be registered, changed and removed at App Store Connect, and what it costs.",
            discussion: """
                Nothing changes at Apple. Ends with 0 where all is in step, with 2 where there is something to do or \
                something stands in the way, and with 1 where no plan could be made. What -o writes is what 'apply FILE' does, \
                that and nothing else.
                """)

        @OptionGroup var registration: SyncOptions
        @OptionGroup var plan: PlanOptions
        @OptionGroup var output: OutputOptions
        @Flag(help: "List the experiences too that Doorstep did not make.") var unmanaged = false
        @Option(
            name: [.customShort("o"), .customLong("output")],
            help: "A file to keep the plan in, for its owner alone, which 'apply' takes.", completion: .file()
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
            abstract: "Do what the plan says, and look whether it is so.",
            discussion: """
                May be ended at any moment and run again: what was sent is written down before, and nothing is created \
                twice. Removals come last. Ends with 0 where all was done that could be, what is blocked being told, and with 1 \
                where something failed, by the code that Apple gave. Given a file of 'plan -o', it does what that says and nothing else: where the \
                catalogue, what was applied or App Store Connect has changed so that the plan is another now, it does nothing, \
                says 'stale_plan' and ends with 1. What of it is done already is no matter.
                """)

        @OptionGroup var registration: SyncOptions
        @OptionGroup var plan: PlanOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "Do so many changes at most, to see what becomes of them.") var limit: Int?
        @Flag(help: "Tell what would be done, as 'plan' does, and do nothing.") var dryRun = false
        @Argument(help: "A file that 'plan -o' has written.", completion: .file()) var file: String?

        func validate() throws {
            guard limit ?? 1 > 0 else { throw ValidationError("--limit is 1 or more") }
            guard file == nil || plan.wishes == SyncRunner.Wishes() else {
                throw ValidationError("what a plan may do was said when it was made, and is in its file")
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
            abstract: "Tell what somebody has changed or removed at App Store Connect.",
            discussion: """
                Only looks, by tokens that are good for nothing else. A server does the same from time to time \
                (--drift-interval of 'serve'); what was found last is what it answers, and webhooks are told where it is \
                another than before. Ends with 0 where nobody has, with 2 where somebody has, and with 1 where it could not be \
                told: while somebody applies, for one. Experiences that nobody here made, doubles and places are told beside.
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
    /// Of plans of 200,000 experiences there is room. [ours]
    private static let maximumLength = 1 << 28

    /// Tells before anything is asked whether a file could be written.
    fileprivate static func tryToWrite(to path: String) throws {
        do {
            _ = try UnfinishedFile(for: path)
        } catch {
            throw CommandError.unwritableFile(path)
        }
    }

    /// Puts the file in its place when all of it is written.
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
            throw SyncError.notAPlan("it is no JSON")
        }
        return try SavedPlan(json: json)
    }
}

extension ExitCode {
    /// Of `plan` and `drift` where there is something.
    fileprivate static let changesFound = ExitCode(2)
}
