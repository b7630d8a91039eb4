import APNsPayload
import APNsSimulator
import ArgumentParser
import Crypto
import Formats
import Foundation
import Notifications
import Tenancy
import UnixSignals

struct APNsSimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns-simulator",
        abstract: "Run a simulator of APNs to test a server that sends notifications.",
        discussion: """
            The simulator refuses the requests that APNs refuses, with the same reasons. It delivers nothing and \
            records each request. It creates a certificate and, unless you name a public key, a key with which the \
            sending server authenticates. Give these files to the sending server.

            A rule is JSON: {"reason": "TooManyRequests", "times": 5} gives the next five requests this response. \
            Other members: effect (pass, answer, never, reset, cut, goaway, streams, refuse-tls, slow-start), \
            delayMilliseconds, probability, seed, device. The control port serves plain HTTP: GET, PUT, POST and \
            DELETE /rules, GET and DELETE /requests, GET /counters, POST /goaway, /cut and /streams?count=1.

            Example: doorstep apns-simulator --port 2197 --team ABCDE12345 --key-id KEY1234567
            """)

    @Option(help: "Address to listen on.") var host = "127.0.0.1"
    @Option(help: "Port for HTTP/2 over TLS; 0 for any.") var port: UInt16 = 2197
    @Option(help: "Port for control, on the loopback address; 0 for any.")
    var controlPort: UInt16 = 2198
    @Option(help: "Environment to simulate: sandbox or production.") var environment = APNsEnvironment.sandbox
    @Option(help: "File for the certificate that clients must trust.", completion: .file())
    var caFile = "apns-simulator-ca.pem"
    @Option(help: "Team ID, ten characters.") var team = "TEAM000000"
    @Option(help: "Key ID; one for each --public-key, in the same order.") var keyID: [String] = []
    @Option(help: "File with a public key (PEM); can be repeated.", completion: .file())
    var publicKey: [String] = []
    @Option(
        help: """
            File of the private key if no --public-key is named; created if it does not exist. (default: \
            AuthKey_ID.p8)
            """,
        completion: .file())
    var privateKey: String?
    @Option(help: "Bundle ID that the team may send to; can be repeated. (default: any)")
    var bundleID: [String] = []
    @Option(help: "Maximum number of streams on a connection.") var streams = 1_000
    @Option(help: "Rule as JSON; can be repeated.") var rule: [String] = []
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if !publicKey.isEmpty, keyID.count != publicKey.count {
            throw ValidationError("give each --public-key its --key-id")
        }
        if publicKey.isEmpty, keyID.count > 1 {
            throw ValidationError("without --public-key, name at most one --key-id")
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
            // On one line, so that a script can wait for it.
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

    /// The accepted keys, and the file of the private key if it is known.
    private func keys() throws -> ([APNsSimulator.Key], file: String?) {
        guard publicKey.isEmpty else {
            return (
                try zip(keyID, publicKey).map { id, file in
                    guard let pem = try? String(contentsOfFile: file, encoding: .utf8),
                        (try? P256.Signing.PublicKey(pemRepresentation: pem)) != nil
                    else {
                        throw CommandError.invalidOption("--public-key", "\(file) is not a P-256 public key")
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
