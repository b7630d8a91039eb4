import ArgumentParser
import Codes
import Formats
import Invocation

extension CodeCommand {
    struct Fit: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "fit",
            abstract: "Estimate whether URLs fit in an App Clip Code.",
            discussion: """
                A code holds 128 bits. The verdict is fits, too_long, unknown or refused. 'unknown' is near the limit: \
                only Apple's generator knows. 'refused' breaks a rule of Apple's. Advice names shorter URLs and the bits \
                that they save.

                Needs no server and no database. The size of the host can be measured with 'doorstep code \
                measure-host'; then fewer verdicts are unknown. Exits with 0 only if no URL is refused or too long.

                Example: doorstep code fit 'https://appclip.example.com?p=42'
                """)

        @OptionGroup var output: OutputOptions
        @Option(
            name: .customLong("host-bits"),
            help: ArgumentHelp("Measured size of the URLs' host, 13 to 101 bits.", valueName: "bits"))
        var hostBits: Int?
        @Argument(help: "URLs.") var urls: [String]

        func validate() throws {
            guard hostBits.map(HostMeasurement.hostSizes.contains) != false else {
                throw ValidationError("--host-bits must be between 13 and 101")
            }
        }

        func run() throws {
            let codes = try urls.map { try AppClipCodeURL($0, hostBits: hostBits) }
            switch output.format {
            case .json: output.print(codes.map(\.json), columns: [])
            case .table: print(codes.map(\.lines).joined(separator: "\n"))
            }
            if codes.contains(where: \.fit.isExcluded) { throw ExitCode.failure }
        }
    }
}

extension AppClipCodeURL {
    /// The verdict, the size and the advice.
    var json: JSONObject {
        [
            "url": .string(text), "fit": .string(fit.rawValue),
            "bits": size.map { JSONValue(Int($0.bits.rounded())) } ?? .null,
            "spread": size.map { JSONValue(Int($0.spread.rounded(.up))) } ?? .null,
            "upperBound": (size?.upperBound).map { JSONValue($0) } ?? .null,
            "refusals": .array(refusals.map { .string($0.rawValue) }), "leadingZeros": .bool(hasLeadingZeros),
            "advice": .array(
                advice.map {
                    [
                        "code": .string($0.code.rawValue), "url": .string($0.better),
                        "savedBits": JSONValue($0.savedBits),
                    ]
                }),
        ]
    }

    /// The verdict, the size and the advice, in lines.
    fileprivate var lines: String {
        let reason = refusals.isEmpty ? sizeText : refusals.map(\.rawValue).joined(separator: ", ")
        var lines = ["\(fit.rawValue)  \(text)  (\(reason))"]
        if refusals.isEmpty, hasLeadingZeros {
            lines.append("  warning: a code may drop leading zeros, so that it reads as another URL")
        }
        lines += advice.map { "  saves about \($0.savedBits) bits: \($0.better)  (\($0.code.rawValue))" }
        return lines.joined(separator: "\n")
    }
}
