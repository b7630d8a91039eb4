import HTTPTypes
import Hummingbird
import JSON
import NIOCore

extension Response {
    init(_ answer: Answer) {
        self.init(
            status: answer.status, headers: HTTPFields(answer.header),
            body: answer.body.map { ResponseBody(byteBuffer: ByteBuffer(bytes: $0)) } ?? ResponseBody())
    }

    /// An answer for this request alone, which nobody may keep.
    init(uncached json: JSONValue) {
        self.init(Answer(uncached: json.serialized()))
    }
}
