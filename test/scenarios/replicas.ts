import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { roleId } from '@behalf/gateway/ports';
import { systemClock as clock, systemRandom as random } from '@behalf/kernel';
import { openPrimary } from '@behalf/stores/open';
import { eventually, scriptedHttpServer, type RedisServer, type ScriptedHttpServer } from '@behalf/testkit';
import { createWorkplace, type GatewayProcess } from './gatewayProcess.ts';
import { createPeople, person as asPerson, type Person } from './people.ts';
import { http } from './serverYaml.ts';

/** What every replica promises, and what a busy machine may add to it. */
const STALENESS_MS = 2_000;
const SCHEDULING_SLACK_MS = 1_000;

/** Somebody at both replicas, with one session. */
export interface Pair {
  readonly id: string;
  readonly one: Person;
  readonly other: Person;
}

/** Two processes on one SQLite file. What is done at `one` must hold at `other`. */
export interface Replicas {
  readonly upstream: ScriptedHttpServer;
  readonly admin: Pair;
  /** Somebody whom no test has met before. */
  readonly person: (role: string) => Pair;
  /** A server of this person, which the other replica knows. */
  readonly serverOf: (owner: Pair) => Promise<{ name: string; id: string }>;
  close(): Promise<void>;
}

/** Each role as often as the tests ask for somebody of it. */
const crowd = [
  ...['ADMIN', 'ADMIN', 'ADMIN', 'USER', 'USER', 'USER', 'USER'],
  ...['MAKER', 'MAKER', 'MAKER', 'MAKER', 'MAKER', 'MAKER', 'READER', 'READER'],
];

export async function startReplicas(redis: RedisServer): Promise<Replicas> {
  const place = await createWorkplace();
  const upstream = await scriptedHttpServer({ era: 'legacy', tools: [{ name: 'echo' }] });
  const yaml = {
    mcpSettings: { allowedAddresses: [new URL(upstream.url).host] },
    mcpServers: { shared: http(upstream.url) },
  };
  await writeFile(join(place.dir, 'librechat.yaml'), JSON.stringify(yaml));
  const env = { CREDS_KEY: 'd'.repeat(64), REDIS_URI: redis.uri, RATE_LIMIT_CALLS: '100000' };
  const gateways: [GatewayProcess, GatewayProcess] = [await place.start(env), await place.start(env)];
  const dataDir = join(place.dir, 'data');
  const names = crowd.map((role, index) => ({ name: `Person${index}`, role }));
  const waiting = (await createPeople({ url: gateways[0].url, dataDir }, names)).map((one, index) => ({
    role: crowd[index],
    pair: pairOf(one, gateways),
  }));

  function person(role: string): Pair {
    const index = waiting.findIndex((entry) => entry.role === role);
    const [found] = index < 0 ? [] : waiting.splice(index, 1);
    if (!found) throw new Error(`Nobody of the role ${role} is left`);
    return found.pair;
  }

  const admin = person('ADMIN');
  for (const [name, permissions] of Object.entries({
    MAKER: { USE: true, CREATE: true, SHARE: true },
    READER: { USE: true },
  })) {
    await must(201, admin.one.post('/api/admin/roles', { name, permissions: { MCP_SERVERS: permissions } }));
  }
  await everythingHeard(dataDir, gateways);
  return {
    upstream,
    admin,
    person,
    async serverOf(owner) {
      const config = { type: 'streamable-http', url: upstream.url, title: 'Mine' };
      const { serverName, dbId } = await must(201, owner.one.post('/api/mcp/servers', { config }));
      await untilThere('a new server', () => owner.other.get(`/api/mcp/servers/${serverName}`), 200);
      return { name: serverName!, id: dbId! };
    },
    async close() {
      await place.clear();
      await upstream.close();
    },
  };
}

/**
 * Resolves when the other replica has heard of all that was written so far: a notice of the crowd's making that came
 * later would end what it believes, and a test would not see that nobody told it of what happened. A role that Redis
 * says nothing of is heard with the store's next poll, after everything else.
 */
async function everythingHeard(
  dataDir: string,
  gateways: readonly [GatewayProcess, GatewayProcess],
): Promise<void> {
  const [one] = await createPeople({ url: gateways[0].url, dataDir }, [{ name: 'Last', role: 'LAST' }]);
  const store = await openPrimary({ dataDir }, { clock, random });
  try {
    const now = clock.now();
    await store.roles.insert({
      ...{ id: roleId('default', 'LAST'), tenant: 'default', name: 'LAST', description: '', version: 1 },
      ...{ permissions: { USE: true }, createdAt: now, updatedAt: now, updatedBy: 'test' },
    });
    await store.changes.publish({ topic: 'roles', id: '*' });
  } finally {
    await store.close();
  }
  const { other } = pairOf(one!, gateways);
  await untilThere('the last role', () => other.get('/api/mcp/servers'), 200);
}

function pairOf(one: Person, [, other]: readonly [GatewayProcess, GatewayProcess]): Pair {
  const secret = one.cookie.slice(one.cookie.indexOf('=') + 1);
  return { id: one.id, one, other: asPerson(other.url, one.id, secret) };
}

/** The body of an answer that must have this status. */
export async function must(status: number, answer: Promise<Response>): Promise<Record<string, string>> {
  const response = await answer;
  const text = await response.text();
  if (response.status !== status) throw new Error(`${response.status}, not ${status}: ${text}`);
  return (text === '' ? {} : JSON.parse(text)) as Record<string, string>;
}

/** Waits as long as the promise allows, and fails with what the other replica still answers. */
export async function untilThere(
  what: string,
  ask: () => Promise<Response>,
  status: number,
  fits: (body: string) => boolean = () => true,
): Promise<void> {
  await eventually(
    `${what} to hold at the other replica`,
    async () => {
      const answer = await ask();
      const body = await answer.text();
      return answer.status === status && fits(body);
    },
    STALENESS_MS + SCHEDULING_SLACK_MS,
  );
}

/** The same for what the upstream sees. */
export function untilSeen(what: string, probe: () => boolean): Promise<true> {
  return eventually(what, () => probe() || null, STALENESS_MS + SCHEDULING_SLACK_MS);
}
