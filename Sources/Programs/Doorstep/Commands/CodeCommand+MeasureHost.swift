import Administration
import ArgumentParser
import Codes
import Formats
import Foundation

extension CodeCommand {
    struct MeasureHost: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "measure-host",
            abstract: "Measure the exact size of a host in App Clip Codes.",
            discussion: """
                Runs Apple's generator, or a compatible program, at most seven times: PROGRAM generate --url URL --index 1 \
                --output FILE. A run that exits with 0 and writes the file means that the URL fits. The generator runs \
                on a Mac; PROGRAM can be a script that runs it there.

                With the size, 'doorstep code fit' and 'doorstep code export' know the fit of more URLs: --host-bits.

                Example: doorstep code measure-host appclip.example.com --generator AppClipCodeGenerator
                """)

        @OptionGroup var output: OutputOptions
        @Option(
            help: ArgumentHelp("Generator to run, found on PATH.", valueName: "program"),
            completion: .file())
        var generator: String
        @Argument(help: "Host, such as appclip.example.com.") var host: DomainName

        func run() throws {
            let folder = FileManager.default.temporaryDirectory.appending(
                path: "doorstep-\(UUID().uuidString)", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: folder) }
            var measurement = HostMeasurement(host: host.text)
            var errors = ""
            while let url = measurement.nextURL {
                let attempt = try attempt(url, in: folder)
                measurement.record(fits: attempt.fits)
                errors = attempt.errors
            }
            switch measurement.result {
            case .hostBits(let bits):
                output.print(
                    ["host": .string(host.text), "hostBits": JSONValue(bits)],
                    line: """
                        \(host) needs \(bits) of \(CodeSizeEstimate.capacity) bits; \
                        \(CodeSizeEstimate.capacity - bits) remain for path, query and fragment.
                        """)
            case .nothingFits, nil:
                throw CommandError.hostNotMeasured(
                    "the generator accepted no URL: the host leaves fewer than 27 bits, or the generator failed: "
                        + String(errors.prefix(500)))
            case .everythingFits:
                throw CommandError.hostNotMeasured("the generator accepted a URL that no code can hold")
            }
        }

        /// Runs the generator for one URL. `errors` is its standard error.
        private func attempt(_ url: String, in folder: URL) throws -> (fits: Bool, errors: String) {
            let file = folder.appending(path: "code.svg")
            try? FileManager.default.removeItem(at: file)
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [
                generator, "generate", "--url", url, "--index", "1", "--output", file.path(),
            ]
            let errors = Pipe()
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = errors
            try process.run()
            let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            let hasFile = FileManager.default.fileExists(atPath: file.path())
            guard process.terminationStatus != 127 else { throw CommandError.hostNotMeasured(text) }
            return (process.terminationStatus == 0 && hasFile, text)
        }
    }
}
