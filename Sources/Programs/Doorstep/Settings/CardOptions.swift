import ArgumentParser
import Cards
import Formats

/// The options for Apple's card of a clip, a location or an experience.
struct CardOptions: ParsableArguments {
    @Option(
        name: .customLong("card"),
        help: ArgumentHelp(
            "File with the card as a JSON object, as in the API; - for standard input.",
            discussion: """
                Members: defaultLanguage, action, businessCategory, image, texts and place (a Maps place). An \
                experience inherits omitted members from its location, and a location from its clip. A change is a \
                merge patch (RFC 7396): omitted members stay, null removes.
                """,
            valueName: "file"), completion: .file())
    var file: String?

    var isGiven: Bool { file != nil }

    /// The card after the changes. The patch is read once, before any change.
    func patch() async throws -> @Sendable (Card) throws -> Card {
        guard let file else { return { $0 } }
        let bytes = try await InputFile(path: file).bytes(limit: Card.maximumLength) { _ in
            CommandError.invalidOption("--card", "the file has more than \(Card.maximumLength) bytes")
        }
        let patch = try JSONValue(parsing: bytes)
        guard patch.objectValue != nil else {
            throw CommandError.notAnObject(file)
        }
        return { try Card(JSONObjectReader(JSONValue.object($0.json).merging(patch), path: "card")) }
    }
}
