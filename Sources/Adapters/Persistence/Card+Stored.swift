import Administration
import Cards
import Formats
import PostgreSQL
import Tenancy

// A card has two columns: `card` contains the JSON without the image, and is NULL if no other member remains. `card_image` is a foreign
// key to the image.

extension Card {
    static let imageColumn = "card_image"
    static let storedColumnNames = ["card", imageColumn]
    static let storedColumns = "card, card_image"

    /// Reads ``storedColumns``.
    init(stored json: JSONText?, image: String?) throws {
        self = try PersistenceError.reading("card") {
            var card = Card()
            if let json { card = try Card(JSONObjectReader(JSONValue(parsing: json.text.utf8))) }
            card.image = try image.map { try ImageDigest($0) }
            return card
        }
    }

    /// The values of ``storedColumns``; NULL for an empty card.
    var stored: (json: String?, image: String?) {
        let text = textWithoutImage
        return (text == "{}" ? nil : text, image?.description)
    }

    private var textWithoutImage: String {
        var card = self
        card.image = nil
        return JSONValue.object(card.json).text
    }

    /// - Parameter card: Nil keeps the existing card.
    static func staged(_ card: Card?) -> [String?] {
        [card?.textWithoutImage, card?.image?.description]
    }

    /// Refuses staged rows whose image the tenant does not have.
    static func unknownImages(of tenant: TenantID) -> Query {
        """
        INSERT INTO pg_temp.refused
        SELECT line, 'card.image: the tenant has no image ' || card_image FROM pg_temp.staged s
        WHERE card_image IS NOT NULL AND NOT EXISTS (SELECT FROM doorstep.card_images i
            WHERE i.tenant_id = \(tenant.uuid) AND i.sha256 = s.card_image)
        ON CONFLICT DO NOTHING
        """
    }

    /// The error if the tenant does not have the image that a row names; nil for other errors.
    func refusal(_ error: PostgreSQLError, in relation: String) -> AdministrationError? {
        guard let image, error.isForeignKeyViolation("\(relation)_card_image") else { return nil }
        return .unknownImage(image)
    }
}
