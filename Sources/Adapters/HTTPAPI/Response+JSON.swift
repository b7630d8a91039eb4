import HTTPTypes
import Hummingbird
import JSON
import NIOCore

extension Response {
    init(_ answer: Answer) {
        var headers = answer.problem?.headers ?? answer.headers
        if answer.body != nil {
            headers[.contentType] = answer.problem == nil ? "application/json" : "application/problem+json"
        }
        switch answer.caching {
        case .none: headers[.cacheControl] = "no-store"
        case .tagged(let tag):
            headers[.eTag] = tag
            headers[.cacheControl] = "private, max-age=\(Answer.maximumAge)"
            headers[.vary] = "Authorization"
        case .shared(let tag):
            headers[.eTag] = tag
            headers[.cacheControl] = "public, max-age=\(Answer.sharedMaximumAge)"
        }
        headers.set(answer.standing)
        self.init(
            status: answer.status, headers: headers,
            body: answer.body.map { ResponseBody(byteBuffer: ByteBuffer(bytes: $0)) } ?? ResponseBody())
    }

    /// An answer for this request alone, which nobody may keep.
    init(uncached json: JSONValue) {
        self.init(Answer(uncached: json.serialized()))
    }
}

extension HTTPFields {
    fileprivate mutating func set(_ standing: RequestStanding) {
        guard let policyName = HTTPField.Name("RateLimit-Policy"), let name = HTTPField.Name("RateLimit")
        else {
            return
        }
        self[policyName] = standing.policy
        self[name] = standing.remaining
    }
}
