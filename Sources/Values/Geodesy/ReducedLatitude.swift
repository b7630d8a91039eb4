import Foundation

/// The latitude β on the auxiliary sphere, where a parallel has the radius `a cos β` and the height `b sin β`.
///
/// Kept as sine and cosine: both are exact in sign, and the cosine is exactly 0 at a pole.
struct ReducedLatitude {
    let sine: Double
    let cosine: Double

    /// From a geographic latitude in degrees: tan β = (1 − f) tan φ.
    init(geographic degrees: Double) {
        // The cosine is taken as the sine of the distance to the pole, which keeps its digits near the pole.
        let colatitude = (90 - abs(degrees)) * .pi / 180
        let height = (1 - WGS84.flattening) * sin(degrees * .pi / 180)
        let radius = sin(colatitude)
        let norm = (height * height + radius * radius).squareRoot()
        sine = height / norm
        cosine = radius / norm
    }
}
