import Invocation

/// A domain that a tenant may claim, in canonical form: lower case, A-labels, at least two labels, no trailing dot.
///
/// No IP address, no port and no wildcard, because an association file applies to one host [Apple].
public struct DomainName: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init(_ text: String) throws(AdministrationError) {
        guard !text.utf8.contains(where: { Self.marks.contains($0) }) else { throw .invalidDomain(nil) }
        do throws(URLPrefixError) {
            self.text = try URLPrefix("https://" + text).host
        } catch {
            throw .invalidDomain(error)
        }
        guard self.text.utf8.contains(UInt8(ascii: ".")) else { throw .invalidDomain(nil) }
    }

    public var description: String { text }

    /// Characters that end a host in a URL, or stand before it.
    private static let marks = Array("/?#:@[".utf8)
}
