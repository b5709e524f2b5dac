import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { roleId } from '@behalf/gateway/ports';
import { systemClock as clock, systemRandom as random } from '@behalf/kernel';
import { openPrimary } from '@behalf/stores/open';
import { eventually, scriptedHttpServer, type RedisServer, type ScriptedHttpServer } from '@behalf/testkit';
import { createWorkspace, type GatewayProcess } from './gatewayProcess.ts';
import { createUsers, connectUser as asPerson, type TestUser } from './users.ts';
import { httpDefinition } from './serverYaml.ts';

/** What every replica promises, and what a busy machine may add to it. */
const MAX_STALENESS_MS = 2_000;
const SCHEDULING_SLACK_MS = 1_000;

/** Somebody at both replicas, with one session. */
export interface ReplicaUser {
  readonly id: string;
  readonly first: TestUser;
  readonly second: TestUser;
}

/** Two processes on one SQLite file. What is done at `one` must hold at `other`. */
export interface Replicas {
  readonly upstream: ScriptedHttpServer;
  readonly admin: ReplicaUser;
  /** Somebody whom no test has met before. */
  readonly nextUser: (role: string) => ReplicaUser;
  /** A server of this person, which the other replica knows. */
  readonly createServerOf: (owner: ReplicaUser) => Promise<{ name: string; id: string }>;
  close(): Promise<void>;
}

/** Each role as often as the tests ask for somebody of it. */
const userRoles = [
  ...['ADMIN', 'ADMIN', 'ADMIN', 'USER', 'USER', 'USER', 'USER'],
  ...['MAKER', 'MAKER', 'MAKER', 'MAKER', 'MAKER', 'MAKER', 'READER', 'READER'],
];

export async function startReplicas(redis: RedisServer): Promise<Replicas> {
  const workspace = await createWorkspace();
  const upstream = await scriptedHttpServer({ era: 'legacy', tools: [{ name: 'echo' }] });
  const yaml = {
    mcpSettings: { allowedAddresses: [new URL(upstream.url).host] },
    mcpServers: { shared: httpDefinition(upstream.url) },
  };
  await writeFile(join(workspace.dir, 'librechat.yaml'), JSON.stringify(yaml));
  const env = { CREDS_KEY: 'd'.repeat(64), REDIS_URI: redis.uri, RATE_LIMIT_CALLS: '100000' };
  const gateways: [GatewayProcess, GatewayProcess] = [await workspace.start(env), await workspace.start(env)];
  const dataDir = join(workspace.dir, 'data');
  const names = userRoles.map((role, index) => ({ name: `Person${index}`, role }));
  const availableUsers = (await createUsers({ url: gateways[0].url, dataDir }, names)).map(
    (first, index) => ({
      role: userRoles[index],
      pair: toReplicaUser(first, gateways),
    }),
  );

  function nextUser(role: string): ReplicaUser {
    const index = availableUsers.findIndex((candidate) => candidate.role === role);
    const [user] = index < 0 ? [] : availableUsers.splice(index, 1);
    if (!user) throw new Error(`Nobody of the role ${role} is left`);
    return user.pair;
  }

  const admin = nextUser('ADMIN');
  for (const [name, permissions] of Object.entries({
    MAKER: { USE: true, CREATE: true, SHARE: true },
    READER: { USE: true },
  })) {
    await expectStatus(
      201,
      admin.first.post('/api/admin/roles', { name, permissions: { MCP_SERVERS: permissions } }),
    );
  }
  await waitForChanges(dataDir, gateways);
  return {
    upstream,
    admin,
    nextUser,
    async createServerOf(owner) {
      const config = { type: 'streamable-http', url: upstream.url, title: 'Mine' };
      const { serverName, dbId } = await expectStatus(201, owner.first.post('/api/mcp/servers', { config }));
      await waitForResponse('a new server', () => owner.second.get(`/api/mcp/servers/${serverName}`), 200);
      return { name: serverName!, id: dbId! };
    },
    async close() {
      await workspace.cleanUp();
      await upstream.close();
    },
  };
}

/**
 * Resolves when the other replica has heard of all that was written so far: a notice of the crowd's making that came
 * later would end what it believes, and a test would not see that nobody told it of what happened. A role that Redis
 * says nothing of is heard with the store's next poll, after everything else.
 */
async function waitForChanges(
  dataDir: string,
  gateways: readonly [GatewayProcess, GatewayProcess],
): Promise<void> {
  const [first] = await createUsers({ url: gateways[0].url, dataDir }, [{ name: 'Last', role: 'LAST' }]);
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
  const { second } = toReplicaUser(first!, gateways);
  await waitForResponse('the last role', () => second.get('/api/mcp/servers'), 200);
}

function toReplicaUser(first: TestUser, [, second]: readonly [GatewayProcess, GatewayProcess]): ReplicaUser {
  const secret = first.cookie.slice(first.cookie.indexOf('=') + 1);
  return { id: first.id, first, second: asPerson(second.url, first.id, secret) };
}

/** The body of an answer that must have this status. */
export async function expectStatus(
  status: number,
  answer: Promise<Response>,
): Promise<Record<string, string>> {
  const response = await answer;
  const text = await response.text();
  if (response.status !== status) throw new Error(`${response.status}, not ${status}: ${text}`);
  return (text === '' ? {} : JSON.parse(text)) as Record<string, string>;
}

/** Waits as long as the promise allows, and fails with what the other replica still answers. */
export async function waitForResponse(
  description: string,
  sendRequest: () => Promise<Response>,
  status: number,
  matches: (body: string) => boolean = () => true,
): Promise<void> {
  await eventually(
    `${description} to hold at the other replica`,
    async () => {
      const response = await sendRequest();
      const body = await response.text();
      return response.status === status && matches(body);
    },
    MAX_STALENESS_MS + SCHEDULING_SLACK_MS,
  );
}

/** The same for what the upstream sees. */
export function waitUntil(description: string, probe: () => boolean): Promise<true> {
  return eventually(description, () => probe() || null, MAX_STALENESS_MS + SCHEDULING_SLACK_MS);
}
