import APNsClient
import APNsPayload
import AppStoreConnect
import ArgumentParser
import Formats
import Foundation
import HTTPAPI
import HTTPServer
import Logging
import OutboundHTTP
import Persistence
import TenantSites

/// Checks the set-up of a server, with the settings and the code of `doorstep serve`. It changes nothing.
struct Doctor {
    let options: ServerCommand<DoctorAction>

    /// The results of all checks, in the order in which a server needs the parts.
    func findings() async -> [DoctorFinding] {
        let readings = settings() + environment() + certificate() + tableFile() + disk() + descriptors()
        return readings + (await database()) + (await apns())
    }

    // MARK: Settings and files

    /// A group of settings with its files.
    private struct Part {
        let name: String
        let remedy: String
        /// Returns the state of the part. `lack` is the remedy if something is missing.
        let read: () throws -> (detail: String, lack: String?)
    }

    private var parts: [Part] {
        let files =
            "Correct the file or its mode: files with secrets must be readable only by their owner and group."
        return [
            Part(name: "listening", remedy: files) {
                let settings = try options.listening.settings()
                let tls = settings.tls == nil ? "plain HTTP: a proxy must end TLS" : "TLS"
                return ("\(settings.host):\(settings.port), \(tls)", nil)
            },
            Part(name: "signing secret", remedy: Self.secretRemedy) {
                let isSet =
                    try !LocationURLSigner.fromEnvironment().isEmpty && AttestationOptions.keys() != nil
                guard isSet else { return (ServerAdvice.noSigningSecret.rawValue, Self.secretRemedy) }
                return ("DOORSTEP_SIGNING_SECRET is set", nil)
            },
            Part(name: "token secret", remedy: Self.secretRemedy) {
                let isSet = try TokenSecrets.sealingKeys() != nil
                guard isSet else { return (ServerAdvice.noTokenSecret.rawValue, Self.secretRemedy) }
                return ("DOORSTEP_TOKEN_SECRET is set", nil)
            },
            Part(name: "attestation root", remedy: files) {
                let isForeign = try options.attestation.root().isForeign
                return isForeign
                    ? (ServerAdvice.foreignRoot.rawValue, "Remove --attest-root, except in tests.")
                    : ("Apple's", nil)
            },
            Part(name: "receipt keys", remedy: files) {
                let keys = try options.receipts.signing()?.keys
                return (keys.map { "\($0.path) can be read" } ?? "not set: responses have no receipts", nil)
            },
            Part(name: "APNs keys", remedy: files) {
                guard let list = try options.apns.sending()?.keys else {
                    return (ServerAdvice.noAPNsKeys.rawValue, nil)
                }
                return ("\(list.path) lists \(try list.keys().count)", nil)
            },
            Part(name: "outbound connections", remedy: files) {
                _ = (try options.proof.outbound.settings(), try options.proof.resolver())
                return ("certificates and DNS server can be read", nil)
            },
        ]
    }

    private static let secretRemedy =
        "Set the secret of the other servers; for the first server, 'openssl rand -hex 32' makes one."

    /// Reads each group of settings with its files, then all settings together.
    private func settings() -> [DoctorFinding] {
        let findings: [DoctorFinding] = parts.map { part in
            do {
                let (detail, lack) = try part.read()
                return lack.map { .warning(part.name, detail, $0) } ?? .ok(part.name, detail)
            } catch {
                return .failed(part.name, Self.text(error), part.remedy)
            }
        }
        guard findings.allSatisfy({ $0.status != .failed }) else { return findings }
        do {
            _ = try options.server(logger: Self.silence)
            return findings + [.ok("settings", "all settings can be read")]
        } catch {
            return findings + [
                .failed(
                    "settings", Self.text(error),
                    "Correct the setting; 'doorstep settings' lists all settings.")
            ]
        }
    }

    private func environment() -> [DoctorFinding] {
        let unknown = UnknownSettings().variables
        guard !unknown.isEmpty else { return [.ok("environment", "each variable DOORSTEP_… is a setting")] }
        return unknown.map { variable in
            .warning(
                "environment", "\(variable.name) is not a setting",
                variable.nearest.map { "Remove it, or rename it to \($0)." } ?? "Remove it.")
        }
    }

    private func certificate() -> [DoctorFinding] {
        // An invalid pair is already a finding of the settings.
        guard let identity = try? options.listening.settings().tls else { return [] }
        let end = identity.expiresAt
        let detail = "\(identity.certificate) expires at \(end.rfc3339)"
        let remedy = "Renew the certificate; a running server reads the file again within ten seconds."
        let now = Date()
        if end < now { return [.failed("certificate", detail, remedy)] }
        if end < now + CertificateFollower.warningTime { return [.warning("certificate", detail, remedy)] }
        return [.ok("certificate", detail)]
    }

    /// Checks the copy of the lookup index, from which a server starts while its database does not respond.
    private func tableFile() -> [DoctorFinding] {
        guard let file = try? options.table(), let path = try? Settings.tableFile.value(options.tableFile)
        else {
            return [
                .warning(
                    "table file", "--table-file is not set",
                    "Set it: otherwise a server cannot start while the database does not respond.")
            ]
        }
        let folder = (path as NSString).deletingLastPathComponent
        guard FileManager.default.isWritableFile(atPath: folder.isEmpty ? "." : folder) else {
            return [
                .failed(
                    "table file", "\(path) cannot be written",
                    "Create its folder, and let the server's user write it.")
            ]
        }
        do {
            guard let saved = try file.read() else {
                return [.ok("table file", "\(path) is not written yet")]
            }
            return [.ok("table file", "\(path) is of \(saved.asOf.rfc3339)")]
        } catch {
            return [
                .failed(
                    "table file", Self.text(error),
                    "Remove the file, or let only the server's user write it; a running server writes it again."
                )
            ]
        }
    }

    /// The number of free bytes below which uploads of a tenant may fail, and the one below which nothing works for long. [ours]
    private static let (scarceSpace, leastSpace) = (2_147_483_648, 134_217_728)

    /// Checks the folders for uploads and for the copy of the lookup index.
    private func disk() -> [DoctorFinding] {
        let table = (try? Settings.tableFile.value(options.tableFile)).map { path in
            let folder = (path as NSString).deletingLastPathComponent
            return folder.isEmpty ? "." : folder
        }
        let uploads = APIServer.uploadFolders.first { FileManager.default.isWritableFile(atPath: $0) }
        guard let uploads else {
            return [
                .failed(
                    "disk",
                    "uploads cannot be stored in \(APIServer.uploadFolders.joined(separator: " or "))",
                    "Set TMPDIR to a folder that the server's user can write, with 1 GiB for each upload.")
            ]
        }
        return Set([uploads, table].compactMap(\.self)).sorted().map { folder in
            let attributes = try? FileManager.default.attributesOfFileSystem(forPath: folder)
            guard let free = (attributes?[.systemFreeSize] as? NSNumber)?.intValue else {
                return .failed("disk", "the free space of \(folder) is unknown", "Create the folder.")
            }
            let detail = "\(folder) has \(free / 1_048_576) MiB of free space"
            let remedy = "Free space, or use another folder: an upload takes up to 1 GiB."
            if free < Self.leastSpace { return .failed("disk", detail, remedy) }
            return free < Self.scarceSpace ? .warning("disk", detail, remedy) : .ok("disk", detail)
        }
    }

    private func descriptors() -> [DoctorFinding] {
        guard let connections = try? options.listening.settings().maximumConnections else { return [] }
        let (allowed, limit) = Server.connections(atMost: connections)
        let detail = "the limit of open files is \(limit)"
        guard allowed < connections else {
            return [.ok("descriptors", "\(detail), enough for \(connections) connections")]
        }
        return [
            .warning(
                "descriptors",
                "\(detail): enough for \(allowed) connections, and --max-connections is \(connections)",
                "Raise LimitNOFILE or 'ulimit -n' to \(connections + Server.otherFiles), or lower --max-connections."
            )
        ]
    }

    // MARK: External services

    /// Checks whether APNs can be reached. No key is needed, because any response shows this.
    private func apns() async -> [DoctorFinding] {
        guard let sending = try? options.apns.sending(), let keys = try? sending.keys.keys() else {
            return []
        }
        var findings: [DoctorFinding] = []
        for (name, service, environment) in [
            ("production", sending.settings.production, APNsEnvironment.production),
            ("sandbox", sending.settings.sandbox, .sandbox),
        ] where keys.contains(where: { $0.environments.contains(environment) }) {
            let address = "\(service.push.host):\(service.push.port)"
            let settings = OutboundClient.Settings(
                authorities: sending.settings.authorities, allowed: Self.everything, timeout: Self.timeout,
                responseBudget: nil)
            let problem = await Self.problem(of: "https://\(address)/", settings)
            findings.append(
                problem.map {
                    .failed(
                        "APNs", "\(name) at \(address): \($0)",
                        "Let the firewall admit connections to \(address); with a proxy that inspects TLS, exempt the host."
                    )
                } ?? .ok("APNs", "\(name) at \(address) responds"))
        }
        return findings
    }

    /// If a clip is connected, checks whether App Store Connect can be reached, and the latest checks of servers.
    func appStore(_ checks: PostgresSyncChecks) async throws -> [DoctorFinding] {
        let known = try await checks.metrics(limit: 100)
        let due = try await checks.due(limit: 1)
        guard !known.isEmpty || !due.isEmpty else {
            return [.ok("App Store Connect", "no clip is connected")]
        }
        let server =
            try Settings.appStore.value(options.appStore)?.text ?? AppStoreConnectClient.Settings().server
        var settings = try options.proof.outbound.settings()
        settings.responseBudget = nil
        settings.timeout = Self.timeout
        let problem = await Self.problem(of: server + "/v1/apps", settings)
        let reach: DoctorFinding =
            problem.map {
                .failed(
                    "App Store Connect", "\(server): \($0)",
                    "Let the firewall admit connections to this server.")
            } ?? .ok("App Store Connect", "\(server) responds")
        return [reach]
            + known.filter { $0.failure != nil }.map {
                .warning(
                    "App Store Connect",
                    "the latest check of the clip \($0.clip) failed: \($0.failure ?? "")",
                    "Run 'doorstep appstore drift' for the clip: it names the error.")
            }
    }

    private static let timeout = Duration.seconds(10)
    private static let everything = ["0.0.0.0/0", "::/0"].compactMap { AddressRange($0) }

    /// The reason why a server does not respond; nil if it does, with any status.
    private static func problem(of url: String, _ settings: OutboundClient.Settings) async -> String? {
        do {
            try await OutboundClient.withClient(settings) { client in
                _ = try await HTTPPageFetcher(client).fetch(url, limit: 4_096)
            }
            return nil
        } catch {
            return text(error)
        }
    }

    // MARK: Texts

    static func text(_ error: any Error) -> String {
        let text = (error as? ValidationError)?.message ?? "\(error)"
        return text.split(separator: "\n").joined(separator: " ")
    }

    private static let silence = Logger(label: "doorstep.doctor") { _ in SwiftLogNoOpLogHandler() }
}
