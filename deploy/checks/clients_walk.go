// Uses the client that deploy/checks/clients has generated.
//
// usage: walk SERVER KEY NAME
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	doorstep "github.com/doorstep/client"
)

func expectEqual[Value comparable](found Value, expected Value, subject string) {
	if found != expected {
		fail(fmt.Errorf("%s: %v, not %v", subject, found, expected))
	}
}

func fail(err error) {
	if err != nil {
		var response *doorstep.GenericOpenAPIError
		if errors.As(err, &response) {
			err = fmt.Errorf("%w: %s", err, response.Body())
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	server, key, name := os.Args[1], os.Args[2], os.Args[3]
	configuration := doorstep.NewConfiguration()
	configuration.Servers = doorstep.ServerConfigurations{{URL: server}}
	api := doorstep.NewAPIClient(configuration)
	with := context.WithValue(context.Background(), doorstep.ContextAccessToken, key)
	url := "https://example.com/" + name

	_, _, err := api.LookupsAPI.LookUpLocation(with).Url(url).Execute()
	var response *doorstep.GenericOpenAPIError
	if !errors.As(err, &response) {
		fail(fmt.Errorf("no problem does_not_match: %v", err))
	}
	problem, _ := response.Model().(doorstep.Problem)
	expectEqual(problem.Code, "does_not_match", "the problem")

	place := *doorstep.NewLocationInput(37.33, -122, "First", 100)
	_, _, err = api.LocationsAPI.PutLocation(with, name).LocationInput(place).IfNoneMatch("*").Execute()
	fail(err)
	changed, _, err := api.LocationsAPI.PatchLocation(with, name).
		LocationPatch(doorstep.LocationPatch{Name: doorstep.PtrString("Branch")}).Execute()
	fail(err)
	expectEqual(changed.Name, "Branch", "the name")
	experience := *doorstep.NewExperienceCreation("com.example.Walk.Clip", url)
	experience.SetLocation(name)
	_, _, err = api.ExperiencesAPI.CreateExperience(with).ExperienceCreation(experience).Execute()
	fail(err)
	found, _, err := api.LookupsAPI.LookUpLocation(with).Url(url).Execute()
	fail(err)
	expectEqual(found.Location.GetName(), "Branch", "the location")

	// The client sends texts as NDJSON, the first type that the document has.
	line := fmt.Sprintf(`{"identifier":"%s-2","name":"Second","latitude":37.34,"longitude":-122,"radius":100}`+"\n", name)
	for _, dryRun := range []bool{true, false} {
		plan, _, err := api.LocationsAPI.MergeLocations(with).Body(line).DryRun(dryRun).Execute()
		fail(err)
		expectEqual(plan.Added, 1, "the locations that are added")
	}

	instance := "8d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10"
	launch := *doorstep.NewLaunchReport("sandbox", "authorized")
	launch.SetUrl(url)
	launch.SetToken("efefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefef")
	launch.SetLaunchedAt(time.Now().UTC().Truncate(time.Second))
	_, _, err = api.InstancesAPI.RegisterInstance(with, instance).LaunchReport(launch).Execute()
	fail(err)

	text := "It is ready."
	aps := doorstep.APS{Alert: &doorstep.Alert{Body: &text}}
	submission := *doorstep.NewNotificationSubmission(aps, doorstep.Audience{Instance: &instance}, url)
	sent, _, err := api.NotificationsAPI.SendNotification(with).NotificationSubmission(submission).Execute()
	fail(err)
	trace, _, err := api.NotificationsAPI.GetNotification(with, sent.Id).Execute()
	fail(err)
	for count := 0; count < 100 && len(trace.Deliveries[0].Answers) == 0; count++ {
		time.Sleep(100 * time.Millisecond)
		trace, _, err = api.NotificationsAPI.GetNotification(with, sent.Id).Execute()
		fail(err)
	}
	expectEqual(trace.Deliveries[0].Answers[0].GetStatus(), 200, "the response of APNs")
	expectEqual(trace.Deliveries[0].State, "added_later", "the state, which the proxy changes")
	fmt.Println(sent.Id, "was delivered")
}
