import Invocation

extension String {
    /// The text for a message: control characters escaped, and cut after 100 characters.
    var excerpt: String {
        let text =
            unicodeScalars.count > 100
            ? String(String.UnicodeScalarView(unicodeScalars.prefix(100))) + "…" : self
        return text.escapingControlCharacters
    }

    private static let invisibleEdge = "must not begin or end with a blank or an invisible character"

    /// Refuses an identifier that people could confuse with another one.
    /// - Parameter column: The column of the identifier.
    public func requireVisibleEdges(in column: String) throws(RowRefusal) {
        if hasInvisibleEdge { throw RowRefusal(column, Self.invisibleEdge) }
    }
}
