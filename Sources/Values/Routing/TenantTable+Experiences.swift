public import Cards
public import Invocation
import Tenancy

extension TenantTable {
    /// Those experiences, in no order, whose canonical URL is wanted, which is lent in UTF-8; of a table that is restricted to
    /// locations, of those alone that are bound to one of these.
    ///
    /// Takes time by how many experiences the whole table has, whoever's they are: a few hundredths of a microsecond each.
    public func experiences(where isWanted: (_ url: Span<UInt8>) -> Bool) -> [RoutedExperience] {
        guard let index else { return [] }
        let table = snapshot.table
        var found: [RoutedExperience] = []
        table.experiences.forEach { header, text in
            guard header.tenant == index else { return }
            if let restriction {
                guard case .location(let location) = table.experience(header, text).binding,
                    restriction.contains(location)
                else { return }
            }
            if isWanted(text.extracting(0..<Int(header.urlLength))) {
                found.append(table.experience(header, text))
            }
        }
        return found
    }

    /// What an experience's card says itself in its default language; nil where it says nothing.
    public func text(of experience: Experience) -> CardText? {
        guard let index else { return nil }
        let text = snapshot.table.card(
            experience.kind.cardNamespace, index, experience.url.canonical.utf8.span
        ).text
        guard text.title != nil || text.subtitle != nil else { return nil }
        return try? CardText(
            title: text.title.map { String(decoding: $0, as: UTF8.self) },
            subtitle: text.subtitle.map { String(decoding: $0, as: UTF8.self) })
    }
}
