import HTTPAPI
import ServerClient

/// Calls the API of a database in this process.
struct LocalTransport: APITransport {
    let api: LocalAPI

    func send(_ call: APICall) async throws -> APIReply {
        var fields = call.fields
        var body: LocalAPI.Body?
        if let content = call.content {
            fields.append((name: "Content-Type", value: content.type))
            body =
                switch content.body {
                case .bytes(let bytes): .bytes(bytes)
                case .chunks(let chunks): .chunks(chunks)
                }
        }
        let response = try await api.respond(
            to: call.method, call.path, query: call.query, fields: fields, body: body)
        return APIReply(status: response.status, entityTag: response.entityTag, body: response.body)
    }
}
