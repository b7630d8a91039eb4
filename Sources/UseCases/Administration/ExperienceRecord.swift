public import Invocation

/// An experience with the texts of its card.
public struct ExperienceRecord: Sendable, Hashable {
    public let experience: Experience
    /// At most 30 characters [Apple].
    public let title: String?
    /// At most 56 characters [Apple].
    public let subtitle: String?

    /// - Throws: `AdministrationError.invalidTitle` or `.invalidSubtitle` for an empty or too long text.
    public init(
        _ experience: Experience, title: String? = nil, subtitle: String? = nil
    ) throws(AdministrationError) {
        guard Self.fits(title, 30) else { throw .invalidTitle }
        guard Self.fits(subtitle, 56) else { throw .invalidSubtitle }
        self.experience = experience
        self.title = title
        self.subtitle = subtitle
    }

    private static func fits(_ text: String?, _ limit: Int) -> Bool {
        guard let scalars = text?.unicodeScalars else { return true }
        return (1...limit).contains(scalars.count)
            && scalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}
