#if canImport(CoreLocation)
    public import CoreLocation

    extension ClipLocation.Region {
        /// The region to pass to `confirmAcquired(in:)`.
        public var circularRegion: CLCircularRegion {
            CLCircularRegion(
                center: CLLocationCoordinate2D(latitude: center.latitude, longitude: center.longitude),
                radius: radius, identifier: identifier)
        }
    }

    extension ClipLocation.Coordinate {
        /// Creates a coordinate with the system's information about the source of the fix [Apple:
        /// `CLLocationSourceInformation`].
        ///
        /// - Returns: Nil if the fix is invalid: its accuracy is below zero [Apple].
        public init?(_ location: CLLocation) {
            guard location.horizontalAccuracy >= 0 else { return nil }
            self.init(
                latitude: location.coordinate.latitude, longitude: location.coordinate.longitude,
                horizontalAccuracy: location.horizontalAccuracy,
                simulated: location.sourceInformation?.isSimulatedBySoftware)
        }
    }
#endif
