import Administration
import Formats
import Foundation
import Notifications
import ServerClient
import Tenancy

/// The reason why a command failed.
enum CommandError: Error, CustomStringConvertible {
    /// The command has neither a database nor a server.
    case noInstallation
    case noDatabase
    case needsDatabase
    case noServer
    case noTenant
    case noKey(ServerURL)
    case noKeyGiven
    case noLogin(TenantSlug, among: [Login])
    /// The tenant of the key.
    case keyOfAnotherTenant(TenantSlug)
    case invalidSetting(String, String)
    /// The version of the database's schema, and the version that the program needs.
    case schemaIsBehind(database: Int, needed: Int)
    case noSigningSecret
    case weakSigningSecret
    case noTokenSecret
    case weakTokenSecret
    /// The secret opens none of the sealed data in the database.
    case foreignTokenSecret
    case invalidAPNsKeys(String, String)
    case webhookNotTaken(WebhookReply)
    case noListener
    case unreadableTokens(Int)
    case unknownInstances([InstanceID])
    case unknownNotification(String)
    case signedURLNotFound(String)
    case unreadableFile(String)
    case unwritableFile(String)
    case fileExists(String)
    case exposedFile(String)
    case noReceiptKeys
    case notConfirmed
    case codesRefused(Int, CodeList.Kind)
    case hostNotMeasured(String)
    case nothingToExport
    case importRefused(ImportProblems)
    case invalidOption(String, String)
    case notAnObject(String)
    case domainNotProved(DomainName, DomainVerification.Outcome)
    case domainsNotProved(Int, of: Int)
    case noDomainContent(DomainName)

    var description: String {
        switch self {
        case .noInstallation:
            "no database or server is named: log in to a server with 'doorstep login --server URL' (or set --server and DOORSTEP_KEY), or name a database: --database-url, DATABASE_URL or --embedded-postgres DIR"
        case .noTenant:
            "name a tenant: its slug, --tenant or DOORSTEP_TENANT"
        case .noKeyGiven:
            "standard input has no key: run the command at a terminal and type the key, or pipe it in: 'doorstep login --server URL < FILE'"
        case .noLogin(let slug, let logins):
            "there is no login for the tenant '\(slug)'; there are logins for \(logins.map { "\($0.tenant?.text ?? "") at \($0.server)" }.joined(separator: ", "))"
        case .noDatabase:
            "name a database: --database-url, DATABASE_URL or --embedded-postgres DIR"
        case .needsDatabase:
            "this command needs a database, not a server: --database-url or --embedded-postgres DIR"
        case .noServer:
            "name a server: --server or DOORSTEP_SERVER"
        case .noKey(let server):
            "there is no key for \(server): set DOORSTEP_KEY, or run 'doorstep login --server \(server)'"
        case .keyOfAnotherTenant(let slug):
            "the key belongs to the tenant '\(slug)'"
        case .invalidSetting(let name, let reason):
            "the value of \(name) is not valid: \(reason)"
        case .schemaIsBehind(let database, let needed):
            "the database has schema version \(database), and this program needs \(needed): run 'doorstep migrate'"
        case .noSigningSecret:
            "set DOORSTEP_SIGNING_SECRET, from which the tenants' signing keys are derived"
        case .weakSigningSecret:
            "each secret of DOORSTEP_SIGNING_SECRET must have at least 32 bytes: 'openssl rand -base64 32' makes one"
        case .noTokenSecret:
            "set DOORSTEP_TOKEN_SECRET, which encrypts push tokens"
        case .weakTokenSecret:
            "each secret of DOORSTEP_TOKEN_SECRET must have at least 32 bytes: 'openssl rand -base64 32' makes one"
        case .foreignTokenSecret:
            "DOORSTEP_TOKEN_SECRET opens nothing that is sealed in the database: set the secret that sealed it. If that secret is lost, 'serve --allow-new-token-secret' starts without this data"
        case .invalidAPNsKeys(let path, let reason):
            "\(path) does not list keys for APNs: \(reason)"
        case .noListener: "no 'webhook listen' has asked for the tenant's events in the last ten minutes"
        case .webhookNotTaken(.status(let status, _)):
            "the webhook did not accept the message: it responded with status \(status)"
        case .webhookNotTaken(.noResponse(let reason)):
            "the webhook did not accept the message: \(reason)"
        case .unreadableTokens(let count):
            "\(count) \(count == 1 ? "token or webhook secret is" : "tokens and webhook secrets are") encrypted with a secret that DOORSTEP_TOKEN_SECRET lacks: add it again; 'doorstep webhook rotate ID' replaces a webhook's"
        case .unknownNotification(let id):
            "the tenant has no notification or delivery \(id)"
        case .unknownInstances(let ids):
            "the tenant has no instance \(ids.map(\.description).joined(separator: ", "))"
        case .signedURLNotFound(let reason):
            "nothing was signed, because a lookup would not find the signed URL: \(reason)"
        case .unreadableFile(let path):
            "\(path) cannot be read"
        case .unwritableFile(let path):
            "\(path) cannot be written"
        case .fileExists(let path):
            "\(path) already exists"
        case .exposedFile(let path):
            "\(path) contains secrets, but other users can read or change it: run 'chmod 600' on it"
        case .noReceiptKeys:
            "name the file of the keys for receipts: --receipt-keys or DOORSTEP_RECEIPT_KEYS"
        case .codesRefused(let count, let kind):
            "nothing was written: \(count) \(count == 1 ? "row" : "rows") cannot be \(kind.rawValue)"
        case .hostNotMeasured(let reason):
            "the host was not measured: \(reason.trimmingCharacters(in: .whitespacesAndNewlines))"
        case .nothingToExport:
            "the tenant has no experience or location to make a code for"
        case .notConfirmed:
            "nothing was deleted: the typed text is not the tenant's slug"
        case .importRefused(let problems):
            "nothing was imported: \(problems.summary)"
        case .invalidOption(let name, let reason):
            "\(name): \(reason)"
        case .notAnObject(let name):
            "\(name) must be a JSON object"
        case .domainNotProved(let name, let outcome):
            Self.text(name, outcome)
        case .noDomainContent(let name):
            "\(name) has no additional content"
        case .domainsNotProved(let count, let all):
            "\(count) of \(all) proofs \(count == 1 ? "was" : "were") not found"
        }
    }

    /// Whether the command was used wrongly. The exit status is then 64.
    var isUsage: Bool {
        switch self {
        case .noInstallation, .noTenant: true
        default: false
        }
    }

    private static func text(_ name: DomainName, _ outcome: DomainVerification.Outcome) -> String {
        let reason = outcome.lack?.reason ?? ""
        switch outcome.record.status {
        case .lapsed where outcome.lack?.isUnanswered == false:
            let end = outcome.record.withdrawnFrom.map { $0.rfc3339 } ?? ""
            return "the proof of \(name) has lapsed and will be withdrawn from \(end): \(reason)"
        case .withdrawn: return "\(name) is no longer proved: \(reason)"
        case .proved, .lapsed: return "\(name) stays proved, because the host did not respond: \(reason)"
        case .claimed: return "\(name) is not proved: \(reason)"
        }
    }
}
