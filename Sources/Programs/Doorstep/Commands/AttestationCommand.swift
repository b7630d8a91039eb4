import AppAttest
import AppSiteAssociation
import ArgumentParser
import Crypto
import Encodings
import Foundation
import JSON

struct AttestationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attestation", abstract: "Look into what App Attest gives.", subcommands: [Inspect.self])

    struct Inspect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tell what each step of verifying an attestation or an assertion says.",
            discussion: """
                The file holds what the app sends, as bytes or in base64 (standard or URL-safe, in one line or several). It is an attestation unless --public-key names \
                the key of an assertion. What the server asks of its database, whether the challenge is its own and the \
                key is known, is not looked at. Exits with 1 where a step refuses.
                """)

        @OptionGroup var root: AttestationOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "A file with an attestation or an assertion.") var file: String
        @Option(
            name: .customLong("app-id"),
            help: "The full app's ID, such as ABCDE12345.com.example.MyApp; can be repeated.")
        var appIDs: [String]
        @Option(help: "What was signed: the challenge's text of an attestation, all lines of an assertion.")
        var clientData: String?
        @Option(help: "The SHA-256 of that in base64, instead.") var clientDataHash: String?
        @Option(name: .customLong("key-id"), help: "The key's ID in base64, of an attestation.")
        var keyID: String?
        @Option(help: "The key in base64, 65 bytes, of an assertion.") var publicKey: String?
        @Option(help: "The counter of the last assertion before.") var counter: UInt32 = 0
        @Option(
            name: .customLong("environment"),
            help: "Whose keys are taken, production or development; can be repeated. (default: both)")
        var environments: [AttestationEnvironment] = []
        @Option(
            name: .customLong("category"),
            help: "How builds may have come to the device; can be repeated. (default: all)")
        var categories: [ValidationCategory] = []
        @Option(help: "When, such as 2026-03-01T12:30:00Z: certificates last for days. (default: now)")
        var at: String?

        func validate() throws {
            guard (clientData == nil) != (clientDataHash == nil) else {
                throw ValidationError("name what was signed: --client-data or --client-data-hash")
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

        /// Reads no more than the longest attestation has in base64, and a little, so that a longer one is recognised.
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
