/** Mixpanel's own client for servers, mixpanel. It sends nothing again: its callback has the error. */
import { init } from "mixpanel";
import { type Connect, provesDelivery } from "./delivery.ts";

const connect: Connect = (url, token) => {
  const { hostname, port } = new URL(url);
  const place = { protocol: "http", host: hostname, port: Number(port), path: "/mixpanel" };
  const client = init(token, place);
  const waiting: Promise<void>[] = [];
  const patiently = (call: (done: (error: Error | undefined) => void) => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const again = () => call((error) => (error === undefined ? resolve() : void setTimeout(again, 200)));
    again();
    waiting.push(promise);
  };
  return {
    identify: (userId, { email, ...traits }) =>
      patiently((done) => client.people.set(userId, { $email: email, ...traits }, done)),
    track: (userId, event, properties) => {
      const sent = { ...properties, distinct_id: userId, $insert_id: crypto.randomUUID(), time: new Date() };
      patiently((done) => client.track(event, { ...sent }, done));
    },
    join: (userId, accountId, name) => {
      patiently((done) => client.people.set(userId, { company: [accountId] }, done));
      patiently((done) => client.groups.set("company", accountId, { $name: name }, done));
    },
    flush: async () => void (await Promise.all(waiting)),
  };
};

// It sends single messages by GET.
provesDelivery("mixpanel", connect, "GET");
