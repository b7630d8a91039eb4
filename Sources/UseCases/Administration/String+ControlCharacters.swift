extension String {
    /// The text with each control character written as in Swift, such as `\u{1B}`.
    ///
    /// A terminal must not interpret printed text of a file as commands.
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
