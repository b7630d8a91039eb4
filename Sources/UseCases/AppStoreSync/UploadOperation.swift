/// The target of a part of an image. The URL allows its holder to upload, so it is kept like a password.
public struct UploadOperation: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    public let method: String
    public let url: String
    /// In bytes of the file.
    public let offset: Int
    public let length: Int
    public let headers: [Header]

    public struct Header: Sendable, Hashable {
        public let name: String
        public let value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public init(method: String, url: String, offset: Int, length: Int, headers: [Header]) {
        self.method = method
        self.url = url
        self.offset = offset
        self.length = length
        self.headers = headers
    }

    public var description: String { "upload of \(length) bytes from \(offset)" }
    public var customMirror: Mirror { Mirror(self, children: ["offset": offset, "length": length]) }
}
