/** The compose files, the unit and the balancer's configuration against the program that they run. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { BlockList } from "node:net";
import { join } from "node:path";
import { readConfig } from "../../server/config.ts";
import { ClientAddresses } from "../../server/http/port/client-address.ts";
import { roles } from "../../server/start/main.ts";
import { Server } from "../server.ts";
import { root } from "../tidy/source-files.ts";
import { assignments, type Compose, compose, deployFile, type Service } from "./files.ts";
import { processOf, stages } from "./image.ts";

const settings = assignments(deployFile("single.env.example"));
const single = () => compose("compose.yaml", settings);
const passwords = { POSTGRES_PASSWORD: "a1", CLICKHOUSE_PASSWORD: "b2" };
const cluster = () =>
  compose("compose.cluster.yaml", { ...assignments(deployFile("cluster.env.example")), ...passwords });

/** Every name that server/config.ts reads from the environment. */
const known = new Set(
  readFileSync(join(root, "server/config.ts"), "utf8").match(/\b[A-Z][A-Z]+(?:_[A-Z]+)*\b/g),
);
const unknown = (environment: object) => Object.keys(environment).filter((name) => !known.has(name));

/** Services that run our program. */
function ours({ services }: Compose): readonly (readonly [string, Service])[] {
  return Object.entries(services).filter(([, { build }]) => build !== undefined);
}

test("a variable that server/config.ts does not read is noticed", () => {
  expect(unknown({ PORT: "1", DATA_FOLDER: "/data" })).toEqual(["DATA_FOLDER"]);
});

test("a compose file without its variables is refused with the file to set them in", () => {
  expect(() => compose("compose.yaml", {})).toThrow("set it in deploy/single.env");
  const example = assignments(deployFile("cluster.env.example"));
  expect(() => compose("compose.cluster.yaml", example)).toThrow("set it in deploy/cluster.env");
});

test("the nodes of try-cluster.sh run on both replicas, with what server/config.ts takes", () => {
  const tried = compose("compose.try-cluster.yaml", Object.assign({}, settings, passwords));
  const nodes = ["intake-1", "intake-2", "analysis-1", "analysis-2"];
  for (const name of nodes) {
    const { environment } = tried.services[name] ?? {};
    const all = { ...cluster().services[name]?.environment, ...environment };
    expect(unknown(all)).toEqual([]);
    expect(readConfig(all).cluster).toMatchObject({ clickhouseCluster: "rekindle" });
  }
  expect(tried.services["analysis-2"]?.image).toBe("rekindle-node");
  expect(deployFile("try-cluster/clickhouse.xml")).toContain("<remote_servers>\n    <rekindle>");
});

describe("every service of ours", () => {
  const services = [...ours(single()), ...ours(cluster())];

  test("is there", () => {
    expect(services.map(([name]) => name)).toEqual(["rekindle", "intake-1", "intake-2", "analysis-1"]);
  });

  test.each(services)("%s runs the Dockerfile with what server/config.ts reads and takes", (_, service) => {
    const { context = "", dockerfile = "" } = service.build ?? {};
    expect(existsSync(join(root, "deploy", context, dockerfile))).toBe(true);
    const environment = { ...processOf(stages()).environment, ...service.environment };
    expect(unknown(environment)).toEqual([]);
    const config = readConfig(environment);
    expect(config.publicUrl).toBe(settings.PUBLIC_URL ?? "");
    expect(config.host).toBe("0.0.0.0");
    expect(config.metricsToken).toBeNull();
  });

  test.each(services)("%s gets what the example file has, and cannot take the machine", (name, service) => {
    const file = name === "rekindle" ? "single.env.example" : "cluster.env.example";
    const offered = Object.keys(assignments(deployFile(file))).filter((one) => known.has(one));
    expect(offered).toContain("SMTP_URL");
    expect(Object.keys(service.environment ?? {})).toEqual(expect.arrayContaining(offered));
    expect(service.mem_limit).toMatch(/^\d+g$/);
    expect(Number(service.pids_limit)).toBeGreaterThan(100);
  });

  test.each(services)(
    "%s keeps its data, is restarted, and gets the time that it takes to leave",
    (name, service) => {
      const { volume } = processOf(stages());
      const names = (service.volumes ?? []).map((text) => text.split(":"));
      expect(names.map(([, path]) => path)).toEqual([volume]);
      expect(Object.keys({ ...single().volumes, ...cluster().volumes })).toContain(names[0]?.[0] ?? name);
      expect(service.restart).toBe("unless-stopped");
      expect(service.read_only).toBe(true);
      expect(Number.parseInt(service.stop_grace_period ?? "", 10)).toBeGreaterThan(10);
      const [command = "serve", option = "--role", role = "all"] = service.command ?? [];
      expect([command, option]).toEqual(["serve", "--role"]);
      expect(roles.map(String)).toContain(role);
    },
  );
});

/** The address that counts for a request from a proxy's address, with what stands in X-Forwarded-For. */
function seenBehind(environment: Readonly<Record<string, string>>, proxy: string, forwarded: string): string {
  const addresses = new ClientAddresses(readConfig(environment).trustedProxies);
  const request = new Request("http://service", { headers: { "X-Forwarded-For": forwarded } });
  return addresses.of(request, { timeout: () => {}, requestIP: () => ({ address: proxy }) });
}

function isWithin(address: string, subnet: string): boolean {
  const [network = "", bits = ""] = subnet.split("/");
  const list = new BlockList();
  list.addSubnet(network, Number(bits), "ipv4");
  return list.check(address, "ipv4");
}

describe("the single machine", () => {
  const environmentOf = (variables: object) =>
    compose("compose.yaml", { ...settings, ...variables }).services.rekindle?.environment ?? {};
  const gateway = single().networks?.default.ipam.config[0]?.gateway ?? "";

  test("trusts no X-Forwarded-For until single.env names a proxy", () => {
    expect(seenBehind(environmentOf({}), gateway, "203.0.113.5")).toBe(gateway);
  });

  test("tells people apart behind a proxy on the machine, with the address that single.env.example names", () => {
    expect(deployFile("single.env.example")).toContain(gateway);
    const environment = environmentOf({ TRUSTED_PROXY: gateway });
    expect(seenBehind(environment, gateway, "192.0.2.1, 203.0.113.5")).toBe("203.0.113.5");
  });
});

describe("the cluster", () => {
  const { services, volumes, networks } = cluster();

  test("builds its nodes without chDB, into an image of its own", () => {
    const built = [...ours(cluster()), ...ours(single())];
    expect(built.map(([, { build, image }]) => [image, build?.args?.CHDB])).toEqual([
      ...ours(cluster()).map(() => ["rekindle-node", "no"]),
      ["rekindle", undefined],
    ]);
  });

  const environments = ours(cluster()).map(([, { environment }]) => environment ?? {});

  test("asks PostgreSQL and ClickHouse where they are, with the passwords that they were given", () => {
    const { postgres, clickhouse } = services;
    expect(environments.map(({ DATABASE_URL }) => DATABASE_URL)).toEqual(
      environments.map(() => {
        const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = postgres?.environment ?? {};
        return `postgres://${POSTGRES_USER}:${POSTGRES_PASSWORD}@postgres:5432/${POSTGRES_DB}`;
      }),
    );
    expect(environments.map(({ CLICKHOUSE_URL }) => CLICKHOUSE_URL)).toEqual(
      environments.map(() => {
        const { CLICKHOUSE_USER, CLICKHOUSE_PASSWORD, CLICKHOUSE_DB } = clickhouse?.environment ?? {};
        return `http://${CLICKHOUSE_USER}:${CLICKHOUSE_PASSWORD}@clickhouse:8123/${CLICKHOUSE_DB}`;
      }),
    );
  });

  test("has fewer connections than PostgreSQL allows, with room for a rolling restart and for people", () => {
    const allowed = Number(/max_connections=(\d+)/.exec((services.postgres?.command ?? []).join(" "))?.[1]);
    const asked = environments.map(({ DATABASE_CONNECTIONS }) => Number(DATABASE_CONNECTIONS));
    expect(2 * asked.reduce((sum, connections) => sum + connections, 0) + 10).toBeLessThan(allowed);
  });

  test("tells intake nodes where analysis is", () => {
    expect(services["analysis-1"]?.environment?.NODE_URL).toBe("http://analysis-1:8081");
  });

  test("believes X-Forwarded-For of the load balancer alone, and not of what reached it by the network's gateway", () => {
    const balancer = services.balancer?.networks?.default.ipv4_address ?? "";
    const [{ subnet, gateway, ip_range: others = "" } = { subnet: "", gateway: "" }] =
      networks?.default.ipam.config ?? [];
    expect([isWithin(balancer, subnet), isWithin(gateway, subnet)]).toEqual([true, true]);
    // No other container gets the balancer's address.
    expect([isWithin(balancer, others), isWithin(gateway, others)]).toEqual([false, false]);
    const withDefault = ours(
      compose("compose.cluster.yaml", { ...passwords, ...settings, TRUSTED_PROXY: "" }),
    );
    const sets = [...environments, ...withDefault.map(([, { environment }]) => environment ?? {})];
    for (const environment of sets) {
      expect(seenBehind(environment, balancer, "203.0.113.5")).toBe("203.0.113.5");
      expect(seenBehind(environment, balancer, `192.0.2.1, ${gateway}`)).toBe(gateway);
    }
    // With a proxy on the machine in front, as cluster.env.example says.
    const both = { PUBLIC_URL: "http://127.0.0.1:8080", TRUSTED_PROXY: `${balancer},${gateway}` };
    expect(deployFile("cluster.env.example")).toContain(both.TRUSTED_PROXY);
    expect(seenBehind(both, balancer, `203.0.113.5, ${gateway}`)).toBe("203.0.113.5");
  });

  test("runs others' programs in versions that are named, restarted when they end, with checks and volumes", () => {
    const others = Object.values(services).filter(({ build }) => build === undefined);
    expect(others.map(({ image }) => image?.split(":")[0])).toEqual([
      "haproxy",
      "postgres",
      "clickhouse/clickhouse-server",
    ]);
    for (const { image, restart } of others) {
      expect(image).toMatch(/:\d+\.\d+/);
      expect(restart).toBe("unless-stopped");
    }
    for (const store of [services.postgres, services.clickhouse]) {
      expect(store?.healthcheck?.test[0]).toBe("CMD");
      expect(Object.keys(volumes)).toContain(store?.volumes?.[0]?.split(":")[0] ?? "");
    }
  });

  test("opens one port, the load balancer's, which sends to every intake node", () => {
    const open = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
    expect(open.map(([name]) => name)).toEqual(["balancer"]);
    const servers = [...deployFile("haproxy.cfg").matchAll(/^ {2}server (\S+) (\S+):8080$/gm)];
    const intakes = Object.keys(services).filter((name) => name.startsWith("intake"));
    expect(servers.map(([, name, host]) => [name, host])).toEqual(intakes.map((name) => [name, name]));
  });
});

describe("the unit for systemd", () => {
  const unit = deployFile("rekindle.service");
  const values = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value]) => value);

  test("runs an existing program, as a user other than root, on the folder that systemd gives it", () => {
    const [program = "", ...parameters] = (values("ExecStart")[0] ?? "").split(" ");
    expect(existsSync(join(root, program.replace("/opt/rekindle/", "")))).toBe(true);
    expect(parameters).toEqual(["serve"]);
    expect(values("User")).toEqual(["rekindle"]);
    expect(values("Environment")).toEqual([`DATA_DIR=/var/lib/${values("StateDirectory")[0]}`]);
    for (const path of unit.match(/(?<= )(?:cli|deploy)\/[\w.-]+/g) ?? []) {
      expect([path, existsSync(join(root, path))]).toEqual([path, true]);
    }
  });

  test("is given an environment that server/config.ts takes", () => {
    const environment = assignments(deployFile("rekindle.env.example"));
    expect(unknown(environment)).toEqual([]);
    expect(readConfig(environment).publicUrl).toBe("https://rekindle.example.com");
  });

  test("gives it longer to leave than it takes, and stops the main process first", () => {
    expect(Number(values("TimeoutStopSec")[0])).toBeGreaterThan(10);
    expect(values("KillMode")).toEqual(["mixed"]);
    expect(values("Restart")).toEqual(["always"]);
  });
});

test("the load balancer finds in /readyz of a server what it looks for there", async () => {
  const sought = /http-check expect string '(.*)'/.exec(deployFile("haproxy.cfg"))?.[1] ?? "nothing";
  const server = await Server.start();
  try {
    // At once, while analysis is starting, and writes are taken already.
    expect(await (await fetch(`${server.url}/readyz`)).text()).toContain(sought);
    await server.ready();
    expect(await (await fetch(`${server.url}/readyz`)).text()).toContain(sought);
  } finally {
    await server.stop();
  }
});
