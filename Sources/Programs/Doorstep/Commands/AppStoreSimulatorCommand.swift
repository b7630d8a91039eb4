import AppStoreConnectSimulator
import ArgumentParser
import Crypto
import Formats
import Foundation
import UnixSignals

struct AppStoreSimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "appstore-simulator",
        abstract: "Run a simulator of the App Store Connect API for App Clip experiences.",
        discussion: """
            The simulator has one app with one App Clip, serves plain HTTP on the loopback address, and keeps its \
            state until it ends. It creates a key for its API. Give the key's file to the client.

            A fault is JSON: {"status": 429, "retryAfter": 5, "times": 3} gives the next three requests this \
            response. Other members: effect (pass, answer, cut, lose-reply, truncate, repeat-row, omit-row), code, \
            delayMilliseconds, probability, seed, method, path. Knobs select behaviour that Apple does not document: \
            {"sharesImages": false}.

            The control port serves plain HTTP: GET, PUT, POST and DELETE /faults, GET and PATCH /knobs, GET \
            /experiences, PATCH /experiences/ID (members attributes, texts, frozen, inTransfer, removed; shown \
            replaces members in responses, such as {"shown": {"status": "IN_LIMBO", "link": null}}), GET /counters \
            and POST /advance?seconds=3600.

            Example: doorstep appstore-simulator --port 2199 --bundle-id com.example.MyApp
            """)

    @Option(help: "Port for HTTP, on the loopback address; 0 for any.")
    var port: UInt16 = 2199
    @Option(help: "Port for control, on the loopback address; 0 for any.")
    var controlPort: UInt16 = 2200
    @Option(help: "Key ID.") var keyID = "KEY0000000"
    @Option(help: "Issuer ID for a team key; without it the key is an individual key.")
    var issuerID: String?
    @Option(
        help: "File of the private key; created if it does not exist. (default: AuthKey_ID.p8)",
        completion: .file())
    var privateKey: String?
    @Option(help: "Bundle ID of the app; its clip's ends with .Clip.")
    var bundleID = "com.example.app"
    @Option(help: "Primary locale of the app; each experience has a text in its language.")
    var primaryLocale = "en-US"
    @Option(help: "Domain that links may lead to; can be repeated. (default: any)")
    var domain: [String] = []
    @Option(help: "Fault as JSON; can be repeated.") var fault: [String] = []
    @Option(help: "Knobs as one JSON object.") var knobs: String?
    @OptionGroup var output: OutputOptions

    private static let appID = "1500000001"
    private static let clipID = "clip-1"

    func run() async throws {
        var knobs = Knobs()
        if let text = self.knobs {
            try Self.read(text, "--knobs") { json in
                guard let members = json.objectValue else {
                    throw JSONFieldError.wrongType(path: "", expected: "an object")
                }
                try knobs.apply(members)
            }
        }
        var faults: [Fault] = []
        for text in fault {
            try Self.read(text, "--fault") { faults.append(try Fault(json: $0)) }
        }
        let keyFile = privateKey ?? "AuthKey_\(keyID).p8"
        let key = try SimulatorKeyFile.key(at: keyFile)
        let clip = AppStoreConnectSimulator.Clip(
            id: Self.clipID, bundleID: bundleID + ".Clip", domains: domain.isEmpty ? nil : Set(domain))
        var options = AppStoreConnectSimulator.Options(
            keys: [.init(id: keyID, publicKey: key.publicKey.pemRepresentation, issuer: issuerID)],
            apps: [
                .init(id: Self.appID, bundleID: bundleID, primaryLocale: primaryLocale, clips: [clip])
            ])
        options.port = Int(port)
        options.controlPort = Int(controlPort)
        options.knobs = knobs
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        try await AppStoreConnectSimulator.withSimulator(options) { [faults] simulator in
            simulator.faults = faults
            announce(simulator, clip: clip, keyFile: keyFile)
            for await _ in signals { break }
        }
    }

    private static func read(
        _ text: String, _ option: String, _ body: (JSONValue) throws -> Void
    ) throws {
        do {
            try body(try JSONValue(parsing: Array(text.utf8)))
        } catch {
            throw CommandError.invalidOption(option, "\(error)")
        }
    }

    private func announce(
        _ simulator: AppStoreConnectSimulator, clip: AppStoreConnectSimulator.Clip, keyFile: String
    ) {
        let control = simulator.controlPort ?? 0
        switch output.format {
        case .json:
            // On one line, so that a script can wait for it.
            var object: JSONObject = [
                "server": .string(simulator.host), "controlPort": JSONValue(control),
                "keyID": .string(keyID), "keyFile": .string(keyFile), "appID": .string(Self.appID),
                "bundleID": .string(bundleID), "clipID": .string(clip.id),
                "clipBundleID": .string(clip.bundleID),
            ]
            object["issuerID"] = issuerID.map(JSONValue.string)
            print(JSONValue.object(object).text)
        case .table:
            print(
                "App Store Connect simulator at \(simulator.host), control at http://127.0.0.1:\(control), "
                    + "app \(bundleID), clip \(clip.bundleID), key \(keyID) in \(keyFile)")
        }
        fflush(nil)
    }
}
