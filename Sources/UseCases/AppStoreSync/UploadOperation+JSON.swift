public import Formats

extension UploadOperation {
    /// As App Store Connect sends it. [Apple] It allows its holder to upload.
    public var json: JSONObject {
        [
            "method": .string(method), "url": .string(url), "offset": JSONValue(offset),
            "length": JSONValue(length),
            "requestHeaders": .array(
                headers.map { ["name": .string($0.name), "value": .string($0.value)] }),
        ]
    }

    /// Reads the ``json``, and ignores other members; nil if a member is missing.
    public init?(json: JSONValue) {
        guard let members = json.objectValue, let method = members["method"]?.stringValue,
            let url = members["url"]?.stringValue, let offset = members["offset"]?.numberValue?.int,
            let length = members["length"]?.numberValue?.int
        else { return nil }
        var headers: [Header] = []
        for value in members["requestHeaders"]?.arrayValue ?? [] {
            guard let name = value.objectValue?["name"]?.stringValue,
                let content = value.objectValue?["value"]?.stringValue
            else { return nil }
            headers.append(Header(name, content))
        }
        self.init(method: method, url: url, offset: offset, length: length, headers: headers)
    }
}
