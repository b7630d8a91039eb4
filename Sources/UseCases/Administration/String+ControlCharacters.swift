extension String {
    /// The text with each control character written as in Swift, such as `\u{1B}`.
    ///
    /// A file's own words are printed: a terminal must not take them for commands.
    var escapingControlCharacters: String {
        var text = ""
        for scalar in unicodeScalars {
            if scalar.properties.generalCategory == .control {
                text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
