import AppAttest
import ArgumentParser
import Crypto
import Formats
import Foundation
import Invocation

struct AttestationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attestation", abstract: "Inspect attestations and assertions of App Attest.",
        discussion: """
            Example: doorstep attestation inspect attestation.bin --app-id ABCDE12345.com.example.MyApp \
            --client-data CHALLENGE --key-id KEY-ID
            """, subcommands: [Inspect.self])

    struct Inspect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "inspect",
            abstract: "Verify an attestation or an assertion, and show the result of each step.",
            discussion: """
                The file holds the app's attestation or assertion, as bytes or in base64 (standard or URL-safe, in \
                one line or several). With --public-key it is an assertion, else an attestation. The command does \
                not check the server's state: whether the server issued the challenge and knows the key. Exits with \
                1 if a step fails.

                Example: doorstep attestation inspect attestation.bin --app-id ABCDE12345.com.example.MyApp \
                --client-data CHALLENGE --key-id KEY-ID
                """)

        @OptionGroup var root: AttestationOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "File with an attestation or an assertion.") var file: String
        @Option(
            name: .customLong("app-id"),
            help: "App ID of the full app, such as ABCDE12345.com.example.MyApp; can be repeated.")
        var appIDs: [String]
        @Option(help: "Signed data: the challenge of an attestation, all lines of an assertion.")
        var clientData: String?
        @Option(help: "SHA-256 of the signed data in base64, instead of --client-data.") var clientDataHash:
            String?
        @Option(name: .customLong("key-id"), help: "Key ID of an attestation, in base64.")
        var keyID: String?
        @Option(help: "Public key of an assertion, 65 bytes in base64.") var publicKey: String?
        @Option(help: "Counter of the previous assertion.") var counter: UInt32 = 0
        @Option(
            name: .customLong("environment"),
            help: """
                Accepted environment of keys, production or development; can be repeated. (default: both)
                """)
        var environments: [AttestationEnvironment] = []
        @Option(
            name: .customLong("category"),
            help: "Accepted distribution of builds; can be repeated. (default: all)")
        var categories: [ValidationCategory] = []
        @Option(
            help: """
                Time of the verification, such as 2026-03-01T12:30:00Z; certificates are valid for days. (default: now)
                """)
        var at: String?

        func validate() throws {
            guard (clientData == nil) != (clientDataHash == nil) else {
                throw ValidationError("name the signed data: --client-data or --client-data-hash")
            }
            guard (keyID == nil) != (publicKey == nil) else {
                throw ValidationError("name --key-id for an attestation, --public-key for an assertion")
            }
        }

        func run() async throws {
            let inspection = try await inspection()
            output.print(inspection.steps.map(\.json), columns: ["step", "verdict", "detail"])
            guard inspection.isAccepted else { throw ExitCode.failure }
        }

        private func inspection() async throws -> AttestationInspection {
            let appIDs = try appIDs.map { text in
                try Self.option("--app-id", "must be a prefix and a bundle ID") { try? AppID(text) }
            }
            let policy = AttestationPolicy(
                appIDs: appIDs,
                environments: environments.isEmpty
                    ? Set(AttestationEnvironment.allCases) : Set(environments),
                categories: categories.isEmpty ? Set(ValidationCategory.allCases) : Set(categories))
            let hash = try hash()
            let bytes = try contents()
            if let publicKey {
                let verifier = try Self.option("--public-key", "must be a point of P-256, 65 bytes in base64")
                {
                    Self.base64(publicKey).flatMap(AssertionVerifier.init(publicKey:))
                }
                return verifier.inspect(bytes, clientDataHash: hash, after: counter, policy: policy)
            }
            let keyID: [UInt8] = try Self.option("--key-id", "must be 32 bytes in base64") {
                Self.base64(self.keyID ?? "").flatMap { $0.count == 32 ? $0 : nil }
            }
            let now: Date = try Self.option("--at", "must be a time such as 2026-03-01T12:30:00Z") {
                at.map { Date(rfc3339: $0) } ?? Date()
            }
            return await AttestationVerifier(root: try root.root().root)
                .inspect(bytes, keyID: keyID, clientDataHash: hash, policy: policy, at: now)
        }

        private func hash() throws -> [UInt8] {
            if let clientData { return Array(SHA256.hash(data: Array(clientData.utf8))) }
            return try Self.option("--client-data-hash", "must be base64") {
                Self.base64(clientDataHash ?? "")
            }
        }

        /// Reads slightly more than the longest attestation in base64, so that a longer one is recognized.
        private func contents() throws -> [UInt8] {
            guard let handle = FileHandle(forReadingAtPath: file),
                let bytes = try? handle.read(upToCount: 32_768)
            else { throw CommandError.unreadableFile(file) }
            return Self.base64(String(decoding: bytes, as: UTF8.self)) ?? Array(bytes)
        }

        /// Decodes base64 as tools write it: standard or URL-safe alphabet, with or without padding, in lines, after a
        /// byte order mark. Nil for any other text.
        private static func base64(_ text: String) -> [UInt8]? {
            var digits = ""
            for character in text.unicodeScalars.drop(while: { $0 == "\u{FEFF}" }) {
                switch character {
                case " ", "\t", "\r", "\n": continue
                case "-": digits.append("+")
                case "_": digits.append("/")
                default: digits.unicodeScalars.append(character)
                }
            }
            let unpadded = digits.utf8.count { $0 != UInt8(ascii: "=") }
            if unpadded == digits.utf8.count {
                digits += String(repeating: "=", count: (4 - unpadded % 4) % 4)
            }
            return Data(base64Encoded: digits).map(Array.init)
        }

        private static func option<Value>(
            _ name: String, _ rule: String, _ value: () -> Value?
        ) throws(CommandError) -> Value {
            guard let value = value() else { throw .invalidOption(name, rule) }
            return value
        }
    }
}

extension AttestationInspection.Step {
    fileprivate var json: JSONObject {
        let (verdict, detail): (String, String?) =
            switch verdict {
            case .passed: ("passed", nil)
            case .refused(let refusal): ("refused", refusal.detail)
            case .notReached: ("not_reached", nil)
            }
        return [
            "step": .string(reason.rawValue), "verdict": .string(verdict),
            "detail": detail.map(JSONValue.string) ?? .null,
        ]
    }
}
