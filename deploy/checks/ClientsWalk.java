import java.net.URI;
import java.time.OffsetDateTime;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.ExperiencesApi;
import org.openapitools.client.api.InstancesApi;
import org.openapitools.client.api.LocationsApi;
import org.openapitools.client.api.LookupsApi;
import org.openapitools.client.api.NotificationsApi;
import org.openapitools.client.model.*;

/** Uses the client that deploy/checks/clients has generated: {@code java ClientsWalk SERVER KEY NAME}. */
public class ClientsWalk {
    static void expectEqual(Object found, Object expected, String subject) {
        if (!expected.equals(found)) throw new IllegalStateException(subject + ": " + found + ", not " + expected);
    }

    public static void main(String[] arguments) throws Exception {
        String server = arguments[0], key = arguments[1], name = arguments[2];
        ApiClient client = new ApiClient();
        client.updateBaseUri(server);
        client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + key));
        LocationsApi locations = new LocationsApi(client);
        LookupsApi lookups = new LookupsApi(client);
        URI url = URI.create("https://example.com/" + name);

        try {
            lookups.lookUpLocation(url, null);
            throw new IllegalStateException("no problem does_not_match");
        } catch (ApiException error) {
            expectEqual(error.getCode(), 404, "the status");
            Problem problem = client.getObjectMapper().readValue(error.getResponseBody(), Problem.class);
            expectEqual(problem.getCode(), "does_not_match", "the problem");
        }

        LocationInput place = new LocationInput().name("First").latitude(number(37.33)).longitude(number(-122)).radius(number(100));
        locations.putLocation(name, place, null, "*");
        ManagedLocation changed = locations.patchLocation(name, new LocationPatch().name("Branch"), null);
        expectEqual(changed.getName(), "Branch", "the name");
        new ExperiencesApi(client)
            .createExperience(new ExperienceCreation().url(url).clip("com.example.Walk.Clip").location(name), null);
        expectEqual(lookups.lookUpLocation(url, null).getLocation().getName(), "Branch", "the location");

        // The client sends texts as NDJSON, the first type that the document has.
        String line = "{\"identifier\":\"" + name + "-2\",\"name\":\"Second\",\"latitude\":37.34,\"longitude\":-122,\"radius\":100}\n";
        for (boolean dryRun : new boolean[] {true, false}) {
            expectEqual(locations.mergeLocations(line, dryRun, null, null).getAdded(), 1, "the locations that are added");
        }

        UUID instance = UUID.randomUUID();
        LaunchReport launch = new LaunchReport()
            .url(url)
            .environment(LaunchReport.EnvironmentEnum.SANDBOX)
            .permission("authorized")
            .token("12".repeat(32))
            .launchedAt(OffsetDateTime.now());
        new InstancesApi(client).registerInstance(instance, launch, null);

        NotificationsApi notifications = new NotificationsApi(client);
        Alert alert = new Alert().title("Order").body("It is ready.");
        NotificationSubmission submission = new NotificationSubmission()
            .url(url)
            .aps(new APS().alert(alert))
            .audience(new Audience().instance(instance.toString()));
        SentNotification sent = notifications.sendNotification(submission, null);
        NotificationTrace trace = notifications.getNotification(sent.getId().toString(), null, null);
        for (int count = 0; count < 100 && trace.getDeliveries().get(0).getAnswers().isEmpty(); count++) {
            Thread.sleep(100);
            trace = notifications.getNotification(sent.getId().toString(), null, null);
        }
        expectEqual(trace.getDeliveries().get(0).getAnswers().get(0).getStatus(), 200, "the response of APNs");
        expectEqual(trace.getDeliveries().get(0).getState(), "added_later", "the state, which the proxy changes");
        System.out.println(sent.getId() + " was delivered");
    }

    static java.math.BigDecimal number(double value) {
        return java.math.BigDecimal.valueOf(value);
    }
}
