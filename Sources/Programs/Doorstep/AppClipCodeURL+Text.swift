import Codes
import Invocation

extension AppClipCodeURL {
    /// The problem that the URL is too long, with its size.
    var tooLongText: String { "too long for a code: \(sizeText): \(text)" }

    /// The estimated size in words, such as `about 58 of 128 bits, give or take 4`.
    var sizeText: String {
        guard let size else { return "the size is unknown" }
        if let upperBound = size.upperBound, upperBound <= CodeSizeEstimate.capacity {
            return "at most \(upperBound) of \(CodeSizeEstimate.capacity) bits"
        }
        return "about \(Int(size.bits.rounded())) of \(CodeSizeEstimate.capacity) bits, "
            + "give or take \(Int(size.spread.rounded(.up)))"
    }
}
