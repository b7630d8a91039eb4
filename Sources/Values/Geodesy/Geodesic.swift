import Foundation

/// The geodesic that leaves one parallel at a given azimuth and runs north to another.
///
/// Solved on the auxiliary sphere, where it is a great circle. The start is not nearer to the equator than the end,
/// and not north of it: by the symmetries of the ellipsoid every pair of points can be turned so.
///
/// Source: C. F. F. Karney, "Algorithms for geodesics", J. Geodesy 87, 43–55 (2013), sections 2 to 5, with his
/// letters. The integrals are not expanded into series but summed by Gauss–Legendre quadrature: they are so smooth
/// that ten points reach the precision of the numbers.
struct Geodesic {
    /// s12, in metres.
    let length: Double
    /// λ12, the longitude from start to end, in radians.
    let longitudeDifference: Double
    /// dλ12/dα1 with both parallels fixed.
    let longitudeSlope: Double
    /// sin α0, the azimuth where it crosses the equator northward.
    let equatorialAzimuthSine: Double

    /// `azimuth` is α1 − π/2 in −π/2…π/2: counted from east, where it needs the finest resolution.
    init(from start: ReducedLatitude, to end: ReducedLatitude, azimuth: Double) {
        let sinα1 = cos(azimuth)
        let cosα1 = -sin(azimuth)
        // α0 by Clairaut's relation, sin α cos β being the same all along; then cos α cos β at either end.
        let sinα0 = sinα1 * start.cosine
        let cosα0 = hypot(cosα1, sinα1 * start.sine)
        let startNorthing = cosα1 * start.cosine
        // As a product, to keep digits if the parallels are close; rounding may leave it just below 0.
        let widening = max(0, (end.cosine - start.cosine) * (end.cosine + start.cosine))
        let endNorthing = hypot(startNorthing, widening.squareRoot())
        // Arc lengths σ and longitudes ω on the sphere, from the northward equator crossing.
        let σ1 = atan2(start.sine, startNorthing)
        let σ2 = atan2(end.sine, endNorthing)
        let ω1 = atan2(sinα0 * start.sine, startNorthing)
        let ω2 = atan2(sinα0 * end.sine, endNorthing)

        let kSquared = WGS84.secondEccentricitySquared * cosα0 * cosα0
        let integrals = Integrals(from: σ1, to: σ2, kSquared: kSquared)
        length = WGS84.polarRadius * integrals.length
        longitudeDifference = ω2 - ω1 - WGS84.flattening * sinα0 * integrals.longitude
        equatorialAzimuthSine = sinα0

        // m12 / b; then dλ12/dα1 = m12 / (a cos α2 cos β2).
        let reducedLength =
            (1 + kSquared * sin(σ2) * sin(σ2)).squareRoot() * cos(σ1) * sin(σ2)
            - (1 + kSquared * sin(σ1) * sin(σ1)).squareRoot() * sin(σ1) * cos(σ2)
            - cos(σ1) * cos(σ2) * integrals.reducedLength
        longitudeSlope = (1 - WGS84.flattening) * reducedLength / endNorthing
    }

    /// The length in metres of the shortest path between two points.
    ///
    /// `longitudeDifference` in radians, 0…π. On an oblate ellipsoid λ12 rises with the azimuth all the way from 0
    /// due north to π due south, so the azimuth is kept in a bracket: Newton's method moves it, and where that
    /// leaves the bracket or is slow, the bracket is halved.
    static func shortestLength(
        from start: ReducedLatitude, to end: ReducedLatitude, longitudeDifference λ12: Double
    ) -> Double {
        // Every path from a pole is a meridian.
        guard start.cosine > 0 else {
            return Geodesic(from: start, to: end, azimuth: -.pi / 2).length
        }

        var lower = -Double.pi / 2
        var upper = Double.pi / 2
        var azimuth = sphericalAzimuth(from: start, to: end, longitudeDifference: λ12)
        var step = 0
        while true {
            step += 1
            let geodesic = Geodesic(from: start, to: end, azimuth: azimuth)
            let excess = geodesic.longitudeDifference - λ12
            if excess < 0 { lower = azimuth } else { upper = azimuth }

            let middle = lower + (upper - lower) / 2
            let isExhausted = step == maximumSteps || middle == lower || middle == upper
            if isExhausted || abs(excess) <= longitudeTolerance {
                // Clairaut: moving the end along its parallel by dλ lengthens the path by a sin α0 dλ. With this
                // an error of the azimuth remains only in the second order.
                return geodesic.length - WGS84.equatorialRadius * geodesic.equatorialAzimuthSine * excess
            }
            azimuth -= excess / geodesic.longitudeSlope
            if step > maximumNewtonSteps || !(lower < azimuth && azimuth < upper) { azimuth = middle }
        }
    }

    /// Radians: 64 µm on the equator, before the correction.
    private static let longitudeTolerance = 1e-11
    private static let maximumNewtonSteps = 15
    /// Halving π this often comes below any difference that the correction would not make good.
    private static let maximumSteps = 75

    /// Returns the start of the search: the azimuth of the great circle, counted from east.
    ///
    /// Its longitudes are stretched by the ellipsoid's flattening at the mean latitude.
    private static func sphericalAzimuth(
        from start: ReducedLatitude, to end: ReducedLatitude, longitudeDifference λ12: Double
    ) -> Double {
        let meanCosine = (start.cosine + end.cosine) / 2
        let ω12 = min(
            .pi, λ12 / (1 - WGS84.eccentricitySquared * meanCosine * meanCosine).squareRoot())
        let east = end.cosine * sin(ω12)
        let north = start.cosine * end.sine - start.sine * end.cosine * cos(ω12)
        return atan2(-north, east)
    }
}

extension Geodesic {
    /// The three integrals over σ that carry the great circle back to the ellipsoid.
    private struct Integrals {
        /// I1, the length over b: ∫ √(1 + k² sin² σ) dσ.
        var length = 0.0
        /// I3, what λ falls short of ω over f sin α0: ∫ (2 − f) / (1 + (1 − f) √(1 + k² sin² σ)) dσ.
        var longitude = 0.0
        /// J, the ellipsoid's part in m12 / b: ∫ k² sin² σ / √(1 + k² sin² σ) dσ.
        var reducedLength = 0.0

        init(from σ1: Double, to σ2: Double, kSquared: Double) {
            let center = (σ1 + σ2) / 2
            let halfWidth = (σ2 - σ1) / 2
            for (node, weight) in Self.rule {
                for σ in [center - halfWidth * node, center + halfWidth * node] {
                    let sine = sin(σ)
                    let square = kSquared * sine * sine
                    let root = (1 + square).squareRoot()
                    length += weight * root
                    longitude += weight * (2 - WGS84.flattening) / (1 + (1 - WGS84.flattening) * root)
                    reducedLength += weight * square / root
                }
            }
            length *= halfWidth
            longitude *= halfWidth
            reducedLength *= halfWidth
        }

        /// Positive nodes and weights of the ten-point Gauss–Legendre rule.
        ///
        /// Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", table 25.4.
        private static let rule = [
            (0.148_874_338_981_631_21, 0.295_524_224_714_752_87),
            (0.433_395_394_129_247_19, 0.269_266_719_309_996_36),
            (0.679_409_568_299_024_41, 0.219_086_362_515_982_04),
            (0.865_063_366_688_984_51, 0.149_451_349_150_580_59),
            (0.973_906_528_517_171_72, 0.066_671_344_308_688_138),
        ]
    }
}
