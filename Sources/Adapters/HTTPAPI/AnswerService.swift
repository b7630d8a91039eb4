import Administration
import Crypto
import Foundation
import HTTPTypes
import Invocation
import JSON
import NIOCore
import Routing
import Tenancy

/// Admits requests to the routes under `/v1`, and answers those that need nothing but what is in memory:
/// authentication, limits and answers are here, and the same for whoever reads requests from the wire.
///
/// Never waits.
struct AnswerService: Sendable {
    let answers: APIAnswers
    let table: LiveRoutingTable
    let limiter: RequestLimiter
    let usage: any KeyUsageRecorder

    /// A request that may be answered, once its body is there.
    struct Admission {
        let request: AnswerRequest
        let caller: KeyHolder
        fileprivate let standing: RequestStanding
        fileprivate let state: LiveRoutingTable.State

        var table: TenantTable { state.table(of: caller.tenant) }
    }

    /// Refuses a request that needs no body to be refused.
    func admit(
        _ request: AnswerRequest, at now: Date
    ) throws(Problem) -> Admission {
        guard let state = table.current else { throw .unavailable }
        guard let caller = request.fields.authorization.flatMap({ Self.holder($0, in: state, at: now) })
        else {
            try limiter.admitStranger(from: request.client)
            throw .unauthorized
        }
        usage.record(caller.key, of: caller.tenant, at: now)
        var standing = RequestStanding()
        do throws(Problem) {
            standing = try limiter.admit(caller, from: request.client)
            try Self.check(request, of: caller)
        } catch {
            throw error.of(caller, standing)
        }
        return Admission(request: request, caller: caller, standing: standing, state: state)
    }

    private static func check(_ request: AnswerRequest, of caller: KeyHolder) throws(Problem) {
        guard !caller.tenantIsSuspended else { throw .tenantSuspended }
        guard caller.scopes.contains(request.access.scope) else { throw .keyLacksScope }
        if request.access.takesBody {
            guard request.fields.contentType.map(isJSON) == true else { throw .unsupportedMediaType }
            if let length = request.fields.contentLength.flatMap({ Int($0) }),
                length > AnswerRoute.maximumBodyLength
            {
                throw .bodyTooLarge
            }
        }
    }

    /// - Parameter body: of a POST, at most ``AnswerRoute/maximumBodyLength`` bytes.
    func answer(
        _ admission: Admission, as route: AnswerRoute, body: ByteBuffer, at now: Date
    ) throws(Problem) -> Answer {
        do throws(Problem) {
            return admission.answered(by: try unlimitedAnswer(admission, route, body: body, at: now))
        } catch {
            throw admission.refused(by: error)
        }
    }

    private func unlimitedAnswer(
        _ admission: Admission, _ route: AnswerRoute, body: ByteBuffer, at now: Date
    ) throws(Problem) -> Answer {
        let table = admission.table
        switch route {
        case .lookUp:
            let parameters = try QueryParameters(
                admission.request.query.utf8.span, named: "url")
            let text = try parameters.required("url")
            let url = try Problem.url(text.span)
            return Answer(
                cacheable: try APIAnswers.lookUp(url, in: table),
                ifNoneMatch: admission.request.fields.ifNoneMatch)
        case .confirm:
            let body = try JSONObject(body: body)
            return Answer(uncached: try answers.confirm(body, in: table, at: now))
        case .compose:
            let body = try JSONObject(body: body)
            return Answer(uncached: try answers.compose(body, in: table, at: now))
        }
    }

    /// Whose the bearer token of an `Authorization` field is (RFC 6750 §2.1); the scheme's case does not matter
    /// (RFC 9110 §11.1).
    ///
    /// A key's checksum is for those who would have to ask a database: here it costs more than it saves.
    private static func holder(
        _ field: String, in table: LiveRoutingTable.State, at now: Date
    ) -> KeyHolder? {
        let field = field.utf8.span
        guard field.count > scheme.count else { return nil }
        for (index, letter) in scheme.enumerated() where field[index] | 0x20 != letter | 0x20 { return nil }
        let token = field.trimmingBlanks(scheme.count..<field.count)
        guard token.count == APIKey.length else { return nil }
        let digest = field.extracting(token).withUnsafeBytes { SHA256.hash(data: $0) }
        return digest.withUnsafeBytes { digest in
            table.keyHolder(digest: Span(_unsafeBytes: digest), at: now)
        }
    }

    private static let scheme = Array("bearer ".utf8)

    /// `application/json`, with no charset or with UTF-8: RFC 8259 §8.1 knows no other encoding.
    private static func isJSON(_ contentType: String) -> Bool {
        let field = contentType.utf8.span
        var isFirst = true
        var isJSON = false
        field.forEachPart(separatedBy: UInt8(ascii: ";")) { part in
            let part = field.extracting(part)
            isJSON =
                isFirst
                ? part.isEqualIgnoringCase(to: "application/json")
                : part.isEqualIgnoringCase(to: "charset=utf-8")
                    || part.isEqualIgnoringCase(to: "charset=\"utf-8\"")
            isFirst = false
            return isJSON
        }
        return isJSON
    }
}

extension AnswerService.Admission {
    /// The answer, with how the caller stands to its limits.
    func answered(by answer: Answer) -> Answer {
        var answer = answer
        answer.standing = standing
        return answer
    }

    /// The same of a refusal.
    func refused(by problem: Problem) -> Problem { problem.of(caller, standing) }
}

extension Problem {
    fileprivate func of(_ caller: KeyHolder, _ standing: RequestStanding) -> Problem {
        var problem = self
        problem.caller = caller
        // A limit that was reached has told its own.
        if problem.standing == RequestStanding() { problem.standing = standing }
        return problem
    }
}

extension JSONObject {
    /// The body of a request.
    init(body: ByteBuffer) throws(Problem) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: body.readableBytesView)
        } catch {
            throw Problem(.badRequest, "invalid_json", "\(error)", members: ["reason": .string(error.code)])
        }
        guard case .object(let object) = value else { throw .notAnObject }
        self = object
    }
}
