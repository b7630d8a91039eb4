import HTTPTypes
import Hummingbird
import JSON
import NIOCore

extension Response {
    init(status: HTTPResponse.Status = .ok, json bytes: [UInt8], headers: HTTPFields = [:]) {
        var headers = headers
        headers[.contentType] = "application/json"
        self.init(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// An answer for this request alone, which nobody may keep.
    init(uncached json: JSONValue) {
        self.init(json: json.serialized(), headers: [.cacheControl: "no-store"])
    }
}
