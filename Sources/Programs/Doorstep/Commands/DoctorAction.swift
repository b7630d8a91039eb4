import ArgumentParser
import Formats

struct DoctorAction: ServerAction {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check the set-up of a server, and say what to do.",
        discussion: """
            Takes the settings of 'doorstep serve', and checks them with the files, the certificate, the secrets, the \
            database, APNs, App Store Connect, the disk and the limit of open files. It changes nothing, and can run \
            beside servers. Run it as the server's user with the server's environment, because files and limits depend \
            on both.

            Each line is ok, a warning or failed. Exit status: 0 if nothing failed, else 1.

            Example: doorstep doctor --database-url service=doorstep
            """)

    @OptionGroup var output: OutputOptions
    @Flag(help: "Print JSON, as --format json does.") var json = false

    func run(_ command: ServerCommand<Self>) async throws {
        let findings = await Doctor(options: command).findings()
        if json || output.format == .json {
            JSONValue.array(findings.map { .object($0.json) }).printPretty()
        } else {
            for finding in findings { print(finding.text) }
        }
        if findings.contains(where: { $0.status == .failed }) { throw ExitCode.failure }
    }
}
