import APNsPayload
import APNsSimulator
import ArgumentParser
import Crypto
import Foundation
import JSON
import Notifications
import Tenancy
import UnixSignals

struct APNsSimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns-simulator",
        abstract: "Run a server that answers as APNs does, to test a provider with.",
        discussion: """
            It refuses what APNs refuses, for the same reasons, delivers nothing, and remembers what it was sent. It makes \
            a certificate and, unless you name a public key, a provider key; the files are yours to give to the provider.

            A rule is JSON: {"reason": "TooManyRequests", "times": 5} answers the next five requests so. Other members: \
            effect (pass, answer, never, reset, cut, goaway, streams, refuse-tls, slow-start), delayMilliseconds, \
            probability, seed, device. While it runs, plain HTTP at the control port has GET, PUT, POST and DELETE \
            /rules, GET and DELETE /requests, GET /counters, POST /goaway, /cut and /streams?count=1.
            """)

    @Option(help: "The address to listen at.") var host = "127.0.0.1"
    @Option(help: "The port for HTTP/2 over TLS; 0 for one that is free.") var port: UInt16 = 2197
    @Option(help: "The port for control, on the loopback address; 0 for one that is free.")
    var controlPort: UInt16 = 2198
    @Option(help: "Which service it plays: sandbox or production.") var environment = APNsEnvironment.sandbox
    @Option(help: "Where to write the certificate that clients are to trust.", completion: .file())
    var caFile = "apns-simulator-ca.pem"
    @Option(help: "The team, ten characters.") var team = "TEAM000000"
    @Option(help: "The ID of a key, in the order of the public keys.") var keyID: [String] = []
    @Option(help: "A file with a public key as PEM; may be repeated.", completion: .file())
    var publicKey: [String] = []
    @Option(
        help: "Where the private key is, or is to be, if no public key is named: AuthKey_ID.p8 by default.",
        completion: .file())
    var privateKey: String?
    @Option(help: "A bundle ID the team may send to; may be repeated. Without, it may send to any.")
    var bundleID: [String] = []
    @Option(help: "The streams that a connection may have.") var streams = 1_000
    @Option(help: "A rule; may be repeated.") var rule: [String] = []
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if !publicKey.isEmpty, keyID.count != publicKey.count {
            throw ValidationError("give each --public-key its --key-id")
        }
        if publicKey.isEmpty, keyID.count > 1 {
            throw ValidationError("one --key-id is enough for the key that is made")
        }
        if (try? TeamID(team)) == nil {
            throw ValidationError("--team: ten upper-case letters and digits")
        }
    }

    func run() async throws {
        let (keys, keyFile) = try keys()
        var options = APNsSimulator.Options(teams: [
            APNsSimulator.Team(
                id: team, keys: keys, bundleIDs: bundleID.isEmpty ? nil : Set(bundleID))
        ])
        options.host = host
        options.port = Int(port)
        options.controlPort = Int(controlPort)
        options.environment = environment
        options.maximumStreams = streams
        options.recordLimit = 100_000
        let rules = try rule.map { text in
            do {
                return try Rule(json: try JSONValue(parsing: Array(text.utf8)))
            } catch {
                throw CommandError.invalidOption("--rule", "\(error)")
            }
        }
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        try await APNsSimulator.withSimulator(options) { simulator in
            simulator.setRules(rules)
            do {
                try (simulator.authority ?? "").write(toFile: caFile, atomically: true, encoding: .utf8)
            } catch {
                throw CommandError.unwritableFile(caFile)
            }
            announce(simulator, keys: keys, keyFile: keyFile)
            for await _ in signals { break }
        }
    }

    private func announce(_ simulator: APNsSimulator, keys: [APNsSimulator.Key], keyFile: String?) {
        let control = simulator.controlPort ?? 0
        let name =
            keyFile.map { "key \(keys[0].id) in \($0)" } ?? "keys \(keys.map(\.id).joined(separator: ", "))"
        switch output.format {
        case .json:
            // On one line, so that whoever started it can wait for it.
            var object: JSONObject = [
                "host": .string(host), "port": JSONValue(simulator.port), "controlPort": JSONValue(control),
                "environment": .string(environment.rawValue), "caFile": .string(caFile),
                "team": .string(team), "keyIDs": .array(keys.map { .string($0.id) }),
            ]
            if let keyFile { object["keyFile"] = .string(keyFile) }
            print(JSONValue.object(object).text)
        case .table:
            print(
                "APNs simulator (\(environment.rawValue)) at https://\(host):\(simulator.port), control at "
                    + "http://127.0.0.1:\(control), certificate in \(caFile), team \(team), \(name)")
        }
        fflush(nil)
    }

    /// The keys it accepts, and the file of the private one if that is known.
    private func keys() throws -> ([APNsSimulator.Key], file: String?) {
        guard publicKey.isEmpty else {
            return (
                try zip(keyID, publicKey).map { id, file in
                    guard let pem = try? String(contentsOfFile: file, encoding: .utf8),
                        (try? P256.Signing.PublicKey(pemRepresentation: pem)) != nil
                    else {
                        throw CommandError.invalidOption("--public-key", "\(file) is no P-256 public key")
                    }
                    return APNsSimulator.Key(id: id, publicKey: pem)
                }, nil
            )
        }
        let id = keyID.first ?? "KEY0000000"
        let file = privateKey ?? "AuthKey_\(id).p8"
        let key = try SimulatorKeyFile.key(at: file)
        return ([APNsSimulator.Key(id: id, publicKey: key.publicKey.pemRepresentation)], file)
    }
}
