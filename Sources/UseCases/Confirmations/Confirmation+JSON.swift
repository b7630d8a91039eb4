import Formats
import Lookups
import Receipts

extension Confirmation {
    /// The response, as JSON in UTF-8.
    /// - Parameter receipt: The signed receipt; nil if the server signs no receipts.
    public func response(receipt: String?) -> [UInt8] {
        var writer = JSONWriter(capacity: 1_024)
        writer.write(literal: isCertain ? #"{"certain":true,"error":"# : #"{"certain":false,"error":"#)
        if let error { writer.write(error) } else { writer.write(literal: "null") }
        writer.write(literal: #","location":"#)
        if let location { writer.write(location) } else { writer.write(literal: "null") }
        writer.write(literal: #","outcome":"#)
        writer.write(quoted: outcome.rawValue)
        if let receipt {
            writer.write(literal: #","receipt":"#)
            writer.write(quoted: receipt)
        }
        writer.write(literal: "}")
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ error: ActivationError) {
        write(literal: #"{"code":"#)
        write(error.code)
        write(literal: #","domain":"#)
        write(quoted: ActivationError.domain)
        write(literal: #","name":"#)
        write(quoted: error.name)
        write(literal: "}")
    }
}
