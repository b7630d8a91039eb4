import Administration
import AppAttest
import Cards
import Formats
import HTTPTypes
import Invocation
import Tenancy

extension Problem {
    /// Converts errors of the administration into problems.
    static func managing<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as JSONFieldError {
            throw Problem(error)
        } catch let refusal as RowRefusal {
            throw Problem.field(refusal.column, code: "invalid_field", refusal.detail)
        } catch let error as AssociationContentError {
            throw Problem.field("content", code: "invalid_field", error.description)
        } catch let error as AdministrationError {
            switch error {
            case .inUse(_, let dependents):
                throw Problem(
                    .conflict, error.code, error.description,
                    members: ["by": .array(dependents.map { .object($0.json) })])
            case .removalsInUse(let inUse):
                throw Problem(.conflict, error.code, error.description, members: inUse.json)
            case .tooManyRemovals(let count, let total, _):
                throw Problem(
                    .conflict, error.code, error.description,
                    members: ["removals": JSONValue(count), "items": JSONValue(total)])
            case .invalidImage(let reason):
                throw Problem(
                    .unprocessableContent, error.code, error.description,
                    members: ["reason": .string(reason.code)])
            case .otherImage(let digest):
                throw Problem(
                    .unprocessableContent, error.code, error.description,
                    members: ["reason": "image_other_digest", "sha256": .string(digest.description)])
            case .monitoredTooLittle(let operation, let seen):
                throw Problem(
                    .conflict, error.code, error.description,
                    members: [
                        "operation": .string(operation.rawValue),
                        "required": JSONValue(MonitoredAttestations.required),
                        "seen": JSONValue(seen),
                    ])
            case .tooManyRows: throw Problem(.contentTooLarge, error)
            case .tooManyImports:
                throw Problem(
                    .serviceUnavailable, error.code, error.description, headers: [.retryAfter: "60"])
            case .conflict:
                throw Problem(.conflict, error.code, error.description, headers: [.retryAfter: "2"])
            case .keyNotActive: throw Problem(.conflict, error)
            case .keyRotated(let successor):
                throw Problem(
                    .conflict, error.code, error.description,
                    members: ["successor": .string(successor.description)])
            case .domainTaken: throw Problem(.conflict, error)
            case .widerKey: throw Problem(.forbidden, error)
            case .tenantDeleted: throw Problem.unauthorized
            case .tenantSuspended: throw Problem.tenantSuspended
            default: throw Problem(ProblemType.byCode[error.code]?.status ?? .internalServerError, error)
            }
        }
    }

    init(_ error: QuotaExceeded) {
        self.init(.conflict, QuotaExceeded.code, error.description, members: error.forecast.json)
    }

    init(_ status: HTTPResponse.Status, _ error: AdministrationError) {
        self.init(status, error.code, error.description)
    }
}
