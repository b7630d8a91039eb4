import ArgumentParser
import Foundation
import JSON
import Registration

extension AppStoreCommand {
    struct Plan: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Tell what is to be registered, changed and removed at App Store Connect, and what it costs.",
            discussion: """
                Nothing changes at Apple. Ends with 0 where all is in step, with 2 where there is something to do or \
                something stands in the way, and with 1 where no plan could be made.
                """)

        @OptionGroup var registration: RegistrationOptions
        @OptionGroup var plan: PlanOptions
        @OptionGroup var output: OutputOptions
        @Flag(help: "List the experiences too that Doorstep did not make.") var unmanaged = false

        func run() async throws {
            let survey = try await registration.withRegistrar(readsOnly: true) { registrar, _ in
                try await registrar.plan(plan.wishes)
            }
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
                twice. Removals come last. Ends with 0 where all was done, and with 1 where something failed; the rest is \
                told by the code that Apple gave.
                """)

        @OptionGroup var registration: RegistrationOptions
        @OptionGroup var plan: PlanOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "Do so many changes at most, to see what becomes of them.") var limit: Int?
        @Flag(help: "Tell what would be done, as 'plan' does, and do nothing.") var dryRun = false

        func validate() throws {
            guard limit ?? 1 > 0 else { throw ValidationError("--limit is 1 or more") }
        }

        func run() async throws {
            var wishes = plan.wishes
            wishes.limit = limit
            if dryRun {
                let survey = try await registration.withRegistrar(readsOnly: true) { [wishes] registrar, _ in
                    try await registrar.plan(wishes)
                }
                output.print(survey.json(), line: survey.text())
                if !survey.isInStep { throw ExitCode.changesFound }
                return
            }
            let bar = ProgressBar(total: nil)
            let outcome = try await registration.withRegistrar(readsOnly: false) { [wishes] registrar, _ in
                try await registrar.apply(wishes) { progress in
                    let end =
                        progress.end.map { ", until about \($0.formatted(.iso8601.dateSeparator(.dash)))" }
                        ?? ""
                    bar.show(progress.done, of: progress.total, "\(progress.done) of \(progress.total)\(end)")
                }
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
                Only looks, by tokens that are good for nothing else. Ends with 0 where nobody has, with 2 where somebody \
                has, and with 1 where it could not be told.
                """)

        @OptionGroup var registration: RegistrationOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let survey = try await registration.withRegistrar(readsOnly: true) { registrar, _ in
                try await registrar.plan(Registrar.Wishes())
            }
            output.print(survey.driftJSON, line: survey.driftText)
            if !survey.drifted.isEmpty || !survey.missing.isEmpty { throw ExitCode.changesFound }
        }
    }
}

extension ExitCode {
    /// Of `plan` and `drift` where there is something.
    fileprivate static let changesFound = ExitCode(2)
}
