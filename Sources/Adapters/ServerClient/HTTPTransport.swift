import Administration
import AsyncHTTPClient
import Formats
import NIOCore
import NIOHTTP1
import OutboundHTTP
import Synchronization

/// Calls the API of a server over HTTP.
struct HTTPTransport: APITransport {
    private let url: ServerURL
    private let key: String
    private let client: OutboundClient

    static func with<Result: Sendable>(
        _ url: ServerURL, key: String, authorities: String?,
        _ body: (HTTPTransport) async throws -> Result
    ) async throws -> Result {
        // In a header field it would be refused by an error that shows it.
        guard !key.isEmpty, key.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw ServerError.invalidKey
        }
        // The user of the command decides where it connects to.
        let everywhere = ["0.0.0.0/0", "::/0"].compactMap { AddressRange($0) }
        let settings = OutboundClient.Settings(
            authorities: authorities, allowed: everywhere, timeout: APIConnection.timeout, responseBudget: nil
        )
        return try await OutboundClient.withClient(settings) { client in
            try await body(HTTPTransport(url: url, key: key, client: client))
        }
    }

    func send(_ call: APICall) async throws -> APIReply {
        let query = call.query.isEmpty ? "" : "?\(call.query)"
        var request = HTTPClientRequest(url: url.description + call.path + query)
        request.method = HTTPMethod(rawValue: call.method)
        request.headers.add(name: "Authorization", value: "Bearer \(key)")
        for (name, value) in call.fields { request.headers.add(name: name, value: value) }
        var file: UploadedFile?
        if let content = call.content {
            request.headers.add(name: "Content-Type", value: content.type)
            switch content.body {
            case .bytes(let bytes): request.body = .bytes(bytes)
            case .chunks(let chunks):
                let uploaded = UploadedFile(chunks)
                file = uploaded
                request.body = .stream(uploaded, length: .unknown)
            }
        }
        do throws(OutboundError) {
            let response = try await client.execute(
                request, limit: call.responseLimit, timeout: call.timeout)
            return APIReply(
                status: response.status, entityTag: response.entityTag, body: Array(response.body),
                isCutOff: response.isCutOff)
        } catch {
            // If the file could not be read, that ended the request too.
            throw file?.failure ?? ServerError.unreached(error)
        }
    }
}

/// A file as the body of a request.
private final class UploadedFile: AsyncSequence, Sendable {
    private let file: FileChunks
    private let thrown = Mutex<(any Error)?>(nil)

    init(_ file: FileChunks) {
        self.file = file
    }

    /// Why the file could not be read to its end.
    var failure: (any Error)? { thrown.withLock { $0 } }

    func makeAsyncIterator() -> Iterator { Iterator(chunks: file.makeAsyncIterator(), body: self) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var chunks: FileChunks.Iterator
        fileprivate let body: UploadedFile

        mutating func next() async throws -> ByteBuffer? {
            do {
                return try await chunks.next().map { ByteBuffer(bytes: $0) }
            } catch {
                body.thrown.withLock { $0 = error }
                throw error
            }
        }
    }
}
