import AppStoreConnectSimulator
import ArgumentParser
import Crypto
import Foundation
import JSON
import UnixSignals

struct AppStoreSimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "appstore-simulator",
        abstract: "Run a server that answers as App Store Connect does about App Clip experiences.",
        discussion: """
            It knows one app with one App Clip, speaks plain HTTP on the loopback address, and keeps what it is sent until it \
            ends. It makes a key for its API; the file is yours to give to the client.

            A fault is JSON: {"status": 429, "retryAfter": 5, "times": 3} answers the next three requests so. Other members: \
            effect (pass, answer, cut, lose-reply, truncate, repeat-row, omit-row), code, delayMilliseconds, probability, \
            seed, method, path. Knobs are for what Apple does not say: {"sharesImages": false}. While it runs, plain HTTP at \
            the control port has GET, PUT, POST and DELETE /faults, GET and PATCH /knobs, GET /experiences, \
            PATCH /experiences/ID (members attributes, texts, frozen, inTransfer, removed; shown replaces what reads answer, such as \
            {"shown": {"status": "IN_LIMBO", "link": null}}), GET /counters and POST /advance?seconds=3600.
            """)

    @Option(help: "The port for HTTP, on the loopback address; 0 for one that is free.")
    var port: UInt16 = 2199
    @Option(help: "The port for control, on the loopback address; 0 for one that is free.")
    var controlPort: UInt16 = 2200
    @Option(help: "The ID of the key.") var keyID = "KEY0000000"
    @Option(help: "The issuer of the key, which is a team key then; without, it is an individual one.")
    var issuerID: String?
    @Option(
        help: "Where the private key is, or is to be: AuthKey_ID.p8 by default.", completion: .file())
    var privateKey: String?
    @Option(help: "The bundle ID of the app; that of its clip ends with .Clip.")
    var bundleID = "com.example.app"
    @Option(help: "The app's primary locale: each experience has a text in its language.")
    var primaryLocale = "en-US"
    @Option(help: "A domain that links may lead to; may be repeated. Without, they may lead anywhere.")
    var domain: [String] = []
    @Option(help: "A fault; may be repeated.") var fault: [String] = []
    @Option(help: "Knobs and their settings, as one object of JSON.") var knobs: String?
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
            // On one line, so that whoever started it can wait for it.
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
