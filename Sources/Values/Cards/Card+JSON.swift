public import Formats

extension Card {
    /// Members by name; nil members are omitted, as are texts if there are none.
    public var json: JSONObject {
        var json: JSONObject = [:]
        json["defaultLanguage"] = defaultLanguage.map { .string($0.rawValue) }
        json["action"] = action.map { .string($0.rawValue) }
        json["businessCategory"] = businessCategory.map { .string($0.rawValue) }
        json["image"] = image.map { .string($0.description) }
        json["place"] = place.map { .object($0.json) }
        if !texts.isEmpty {
            var languages: JSONObject = [:]
            for (language, text) in texts {
                var members: JSONObject = [:]
                members["title"] = text.title.map(JSONValue.string)
                members["subtitle"] = text.subtitle.map(JSONValue.string)
                languages[language.rawValue] = .object(members)
            }
            json["texts"] = .object(languages)
        }
        return json
    }

    /// Reads the output of ``json``; texts may be named by any tag of BCP 47 that is one of Apple's
    /// languages. An empty text and an empty place count as nil.
    ///
    /// - Throws: For a member that is unknown (`unknown_field`), of another type or invalid
    ///   (`invalid_field`), with its path.
    public init(_ reader: JSONObjectReader) throws(JSONFieldError) {
        var fields = reader
        self.init(
            defaultLanguage: try fields.optionalCase("defaultLanguage", of: CardLanguage.self),
            action: try fields.optionalCase("action", of: CardAction.self),
            businessCategory: try fields.optionalCase("businessCategory", of: BusinessCategory.self))
        if let text = try fields.optionalString("image") {
            do throws(CardError) {
                image = try ImageDigest(text)
            } catch {
                throw .invalid(path: fields.path(of: "image"), reason: "must be 64 hexadecimal digits")
            }
        }
        if let place = try fields.optionalObject("place") {
            let place = try Place(place)
            if place != Place() { self.place = place }
        }
        if let texts = try fields.optionalMembers("texts") {
            let languages = JSONObjectReader(texts, key: "texts", of: fields)
            for (tag, value) in texts {
                let path = languages.path(of: tag)
                var members = try JSONObjectReader(value, path: path)
                do {
                    let language = try CardLanguage(tag: tag)
                    guard self.texts[language] == nil else { throw CardError.sameLanguage(language) }
                    let text = try CardText(
                        title: try members.optionalString("title"),
                        subtitle: try members.optionalString("subtitle"))
                    try members.finish()
                    if text != CardText.none { self.texts[language] = text }
                } catch let error as CardError {
                    throw .invalid(path: path, reason: "is not valid: \(error)")
                } catch let error as JSONFieldError {
                    throw error
                } catch {
                    throw .invalid(path: path, reason: "is not valid")
                }
            }
        }
        try fields.finish()
        guard JSONValue.object(json).serialized().count <= Self.maximumLength else {
            throw .invalid(path: fields.path, reason: "must have at most \(Self.maximumLength) bytes as JSON")
        }
    }
}
