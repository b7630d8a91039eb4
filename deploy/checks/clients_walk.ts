// Uses the client that deploy/checks/clients has generated.
//
// usage: node walk.js SERVER KEY NAME

import {
    Configuration,
    ExperiencesApi,
    InstancesApi,
    LocationsApi,
    LookupsApi,
    NotificationsApi,
    ResponseError,
} from "./index";

declare const process: { argv: string[]; exit(status: number): never };

function expectEqual(found: unknown, expected: unknown, subject: string) {
    if (found !== expected) throw new Error(`${subject}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
}

async function main() {
    const [server, key, name] = process.argv.slice(2);
    const configuration = new Configuration({ basePath: server, accessToken: key });
    const locations = new LocationsApi(configuration);
    const lookups = new LookupsApi(configuration);
    const url = `https://example.com/${name}`;

    try {
        await lookups.lookUpLocation({ url });
        throw new Error("no problem does_not_match");
    } catch (error) {
        if (!(error instanceof ResponseError)) throw error;
        expectEqual(error.response.status, 404, "the status");
        expectEqual((await error.response.json()).code, "does_not_match", "the problem");
    }

    const place = { name: "First", latitude: 37.33, longitude: -122, radius: 100 };
    await locations.putLocation({ identifier: name, locationInput: place, ifNoneMatch: "*" });
    const changed = await locations.patchLocation({ identifier: name, locationPatch: { name: "Branch" } });
    expectEqual(changed.name, "Branch", "the name");
    await new ExperiencesApi(configuration).createExperience({
        experienceCreation: { url, clip: "com.example.Walk.Clip", location: name },
    });
    expectEqual((await lookups.lookUpLocation({ url })).location.name, "Branch", "the location");

    const body = `identifier,name,latitude,longitude,radius\n${name}-2,Second,37.34,-122,100\n`;
    for (const dryRun of [true, false]) {
        const asTable = async ({ init }: any) => ({ headers: { ...init.headers, "Content-Type": "text/csv" } });
        const plan = await locations.mergeLocations({ body, dryRun }, asTable);
        expectEqual(plan.added, 1, "the locations that are added");
    }

    const id = "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10";
    await new InstancesApi(configuration).registerInstance({
        id,
        launchReport: { url, environment: "sandbox", permission: "authorized", token: "cd".repeat(32), launchedAt: new Date() },
    });
    const notifications = new NotificationsApi(configuration);
    const sent = await notifications.sendNotification({
        notificationSubmission: { url, aps: { alert: { title: "Order", body: "It is ready." } }, audience: { instance: id } },
    });
    let trace = await notifications.getNotification({ id: sent.id });
    for (let count = 0; count < 100 && trace.deliveries[0].answers.length === 0; count++) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        trace = await notifications.getNotification({ id: sent.id });
    }
    expectEqual(trace.deliveries[0].answers[0].status, 200, "the response of APNs");
    expectEqual(trace.deliveries[0].state, "added_later", "the state, which the proxy changes");
    console.log(`${sent.id} was delivered`);
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
