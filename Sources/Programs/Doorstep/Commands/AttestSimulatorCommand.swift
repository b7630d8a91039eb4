import AppAttest
import ArgumentParser
import Formats
import Foundation
import Invocation
import ServerClient
import Tenancy

struct AttestSimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attest-simulator",
        abstract: "Simulate a device with App Attest to test a server that requires attestation.",
        discussion: """
            The device is a file with a root certificate, an app and keys. Only a server that trusts the root \
            accepts its attestations: give the root to the server of a test with --attest-root, and never to one \
            that real clips use.

            Example: doorstep attest-simulator create device.json --app-id ABCDE12345.com.example.MyApp
            """, subcommands: [Create.self, Token.self, Sign.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Create a device, and write the root that a server must trust.",
            discussion: """
                Example: doorstep attest-simulator create device.json --app-id ABCDE12345.com.example.MyApp
                """)

        @OptionGroup var output: OutputOptions
        @Argument(help: "File for the device; it must not exist.", completion: .file()) var device: String
        @Option(
            name: .customLong("app-id"),
            help: "App ID of the full app, such as ABCDE12345.com.example.MyApp.")
        var appID: AppID
        @Option(help: "File for the root certificate.", completion: .file()) var rootFile = "attest-root.pem"
        @Option(help: "Environment of keys: production or development.") var environment =
            AttestationEnvironment.production
        @Option(help: "Distribution of the build.") var category = ValidationCategory.appStore

        func run() async throws {
            guard !FileManager.default.fileExists(atPath: device) else {
                throw CommandError.fileExists(device)
            }
            let new = try SimulatedDevice(
                newAt: device, app: appID, environment: environment, category: category)
            try new.save()
            do {
                try new.rootPEM.write(toFile: rootFile, atomically: true, encoding: .utf8)
            } catch {
                // Without its root, a device is of no use.
                try? FileManager.default.removeItem(atPath: device)
                throw CommandError.unwritableFile(rootFile)
            }
            output.print(
                ["device": .string(device), "root": .string(rootFile)],
                line: "Created the device \(device). Start the server with --attest-root \(rootFile)")
        }
    }

    struct Token: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "token",
            abstract: "Print a token for requests of the device.",
            discussion: """
                The first call for a clip attests a key. Later calls sign with this key. Send the token in the \
                header field Doorstep-Attestation.

                Example: doorstep attest-simulator token device.json --clip com.example.MyApp.Clip
                """)

        @OptionGroup var session: Session

        func run() async throws {
            print(
                try await session.withServer { api, server, device in
                    try await session.token(api, at: server, &device)
                })
        }
    }

    struct Sign: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign",
            abstract: "Sign the body of a confirmation, and print the header field.",
            discussion: """
                The header field is for one POST /v1/confirmations with exactly the bytes of the file. The first \
                call for a clip attests a key.

                Example: doorstep attest-simulator sign device.json body.json --clip com.example.MyApp.Clip
                """)

        @OptionGroup var session: Session
        @Argument(help: "File with the body of the confirmation; - for standard input.", completion: .file())
        var body: String

        /// The API accepts no longer body.
        private static let longestBody = 65_536

        func run() async throws {
            let path = body
            let bytes = try await InputFile(path: path).bytes(limit: Self.longestBody) { _ in
                CommandError.unreadableFile(path)
            }
            print(
                try await session.withServer { api, server, device in
                    if session.newKey || device.keyID(of: session.clip, at: server) == nil {
                        _ = try await session.token(api, at: server, &device)
                    }
                    return try await session.signature(of: bytes, api, at: server, &device)
                })
        }
    }

    /// A device, a clip, and the server that knows its keys.
    struct Session: ParsableArguments {
        @Argument(help: "File of the device, from 'attest-simulator create'.", completion: .file())
        var device: String
        @Option(help: "Bundle ID of the clip.") var clip: BundleID
        @Option(Settings.server) var server: ServerURL?
        @Option(Settings.tenant) var tenant: TenantSlug?
        @Flag(help: "Attest a new key, as a new installation of the clip does.") var newKey = false

        /// Runs the closure with the server and the device.
        func withServer(
            _ body: (APIConnection, _ server: String, inout SimulatedDevice) async throws -> String
        ) async throws -> String {
            let named = try Settings.server.value(server)
            guard let login = try LoginFile().login(at: named, of: try Settings.tenant.value(tenant)) else {
                if let named { throw CommandError.noKey(named) }
                throw CommandError.noServer
            }
            var device = try SimulatedDevice(readFrom: device)
            return try await login.withServer { try await body($0, login.server.description, &device) }
        }

        /// Attests a key, or signs with the attested one, and returns the server's token.
        func token(
            _ api: APIConnection, at server: String, _ device: inout SimulatedDevice
        ) async throws -> String {
            let reply: JSONObject
            if !newKey, let id = device.keyID(of: clip, at: server) {
                let challenge = try await challenge(.token, api)
                guard let data = ClientData.token(clip: clip, challenge: challenge) else {
                    throw ServerError.unexpected(status: 200)
                }
                let assertion = try device.assertion(id, data)
                reply = try await api.post(
                    "/v1/attestation/tokens",
                    [
                        "keyID": .string(id.base64), "challenge": .string(challenge),
                        "assertion": .string(assertion.base64),
                    ])
            } else {
                let challenge = try await challenge(.attestation, api)
                let (id, attestation) = try device.attest(challenge: challenge)
                reply = try await api.post(
                    "/v1/attestation/keys",
                    [
                        "clip": .string(clip.text), "keyID": .string(id.base64),
                        "challenge": .string(challenge), "attestation": .string(attestation.base64),
                    ])
                device.keep(id, of: clip, at: server)
                try device.save()
            }
            guard let token = reply["token"]?.stringValue else { throw ServerError.unexpected(status: 200) }
            return token
        }

        /// The header field that signs the body of a confirmation.
        func signature(
            of body: [UInt8], _ api: APIConnection, at server: String, _ device: inout SimulatedDevice
        ) async throws -> String {
            let challenge = try await challenge(.request, api)
            guard let id = device.keyID(of: clip, at: server),
                let data = ClientData.request(
                    method: "POST", target: "/v1/confirmations", challenge: challenge, body: body)
            else { throw ServerError.unexpected(status: 200) }
            let assertion = try device.assertion(id, data)
            let members = [("key", id), ("challenge", Array(challenge.utf8)), ("assertion", assertion)]
            return "Doorstep-Assertion: "
                + members.map { "\($0)=:\($1.base64):" }.joined(separator: ", ")
        }

        private enum Purpose: String { case attestation, token, request }

        private func challenge(_ purpose: Purpose, _ api: APIConnection) async throws -> String {
            let reply = try await api.post(
                "/v1/attestation/challenges",
                ["clip": .string(clip.text), "purpose": .string(purpose.rawValue)])
            guard let challenge = reply["challenge"]?.stringValue else {
                throw ServerError.unexpected(status: 200)
            }
            return challenge
        }
    }
}

extension [UInt8] {
    fileprivate var base64: String { Data(self).base64EncodedString() }
}
