import { createRandom } from '@behalf/kernel';
import { compileDefinition } from '@behalf/settings';
import { aPrincipal, createFakeClock } from '@behalf/testkit';
import { roleDefaults } from '@behalf/contracts';
import type { RequirePermission } from '../src/access/roles.ts';
import type { AuditEvent } from '../src/audit/audit.ts';
import { createCatalog } from '../src/tools/catalog.ts';
import { createListAll } from '../src/upstream/listAll.ts';
import type { Lease, LeaseOptions } from '../src/connections/connectionManager.ts';
import type { ConnectionHolder } from '../src/connections/lease.ts';
import type { Credential } from '../src/credentials/credentials.ts';
import { SignInRequired } from '../src/credentials/signInRequired.ts';
import type { OboTokens } from '../src/credentials/obo/bearer.ts';
import { createToolPolicy } from '../src/tools/policy.ts';
import { principalKey, type Principal } from '../src/principal/principal.ts';
import { GatewayError } from '../src/errors/gatewayError.ts';
import type { ServerSnapshot, ServerSource } from '../src/definitions/definition.ts';
import { EVERY_TENANT, createSnapshot } from '../src/definitions/snapshot.ts';
import type { Inbound } from '../src/toolcall/inbound.ts';
import type { CallParts } from '../src/toolcall/callTool.ts';
import type { ListToolsParts } from '../src/toolcall/list.ts';
import { createArgumentValidator } from '../src/toolcall/arguments.ts';
import type { CallOutcome, ServerOutcome } from '../src/toolcall/outcome.ts';
import type {
  UpstreamResponse,
  JsonObject,
  UpstreamRequestOptions,
  Upstream,
} from '../src/upstream/upstream.ts';
import { rejectAppBearer } from './bearerRig.ts';

export const adaUser = aPrincipal();

/** Where nothing is exchanged. */
export const noOboTokens: OboTokens = {
  bearerFor: () => {
    throw new Error('Nothing is exchanged here');
  },
};

/** A server as the registry would hold it; the definition is one over streamable HTTP unless it says otherwise. */
export function defineServer(
  name: string,
  definition: JsonObject = {},
  { source = 'yaml', author }: { source?: ServerSource; author?: string } = {},
): ServerSnapshot {
  const remoteDefinition = { type: 'streamable-http', url: 'https://mcp.example/mcp' };
  const fullDefinition = 'command' in definition ? definition : { ...remoteDefinition, ...definition };
  const compiled = compileDefinition(name, fullDefinition, { env: {} });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.errors));
  const tenant = source === 'yaml' ? EVERY_TENANT : 'default';
  const identity = { id: name, tenant, source, ...(author !== undefined && { author }) };
  const snapshot = createSnapshot(compiled.server, identity, {
    inheritedEnv: { PATH: '/bin' },
    addressPolicy: '',
    appBearer: rejectAppBearer,
  });
  if (!snapshot.ok) throw new Error(snapshot.code);
  return snapshot.server;
}

/** One request that a server would have received. */
export interface SentRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly options: UpstreamRequestOptions;
}

type UpstreamScript = (sent: SentRequest, callIndex: number) => JsonObject | Promise<JsonObject>;

/** The walk of a call over parts that count: what was obtained, leased and sent. */
export function createToolcallRig(
  servers: readonly ServerSnapshot[],
  tools: readonly JsonObject[] = [{ name: 'echo' }],
) {
  const clock = createFakeClock();
  const catalog = createCatalog({ clock, log: () => undefined });
  catalog.update(servers);
  const disconnect = new AbortController();
  let idCount = 0;

  const upstream: Upstream = {
    claims: {
      era: 'legacy',
      protocolVersion: '2025-11-25',
      name: 'fake',
      version: '1',
      instructions: undefined,
      capabilities: { tools: {}, resources: {}, prompts: {} },
    },
    async request(method, params, options): Promise<UpstreamResponse> {
      const sentRequest = { method, params, options };
      rig.sent.push(sentRequest);
      if (method === 'tools/list' && rig.tools) return createAnswer({ tools: rig.tools });
      const callIndex = rig.sent.filter((other) => other.method === method).length;
      return createAnswer(await rig.answers(sentRequest, callIndex));
    },
    listen: () => () => undefined,
    onClose: () => undefined,
    close: async () => undefined,
  };
  const lease = async (
    server: ServerSnapshot,
    holder: ConnectionHolder | undefined,
    options: LeaseOptions,
  ) => {
    rig.leases.push({ server: server.name, holder, options });
    await rig.onLease?.(rig.leases.length);
    const heldLease: Lease = {
      upstream,
      release: (releaseError) => void rig.released.push(releaseError),
      onRetire: () => () => undefined,
    };
    return heldLease;
  };
  const credentials = {
    async obtain(server: ServerSnapshot, principal: Principal): Promise<Credential> {
      rig.obtained += 1;
      return rig.credential?.() ?? createCredential(server, principal);
    },
  };
  const parts: CallParts & ListToolsParts = {
    requirePermission: () => checkDefaultPermissions,
    canSee: (principal, server) => rig.canSee(principal, server),
    registry: {
      find: (_tenant, name) => servers.find((server) => server.name === name),
      list: () => servers,
    },
    credentials,
    appTokens: { bearerFor: () => undefined, connectionBearer: rejectAppBearer },
    vault: { withExclusiveUse: (_key, _signal, work) => work() },
    connections: {
      shared: { lease: (server, options) => lease(server, undefined, options) },
      user: {
        checkBreaker: () => rig.onCheck?.(),
        lease: (server, holder, options) => lease(server, holder, options),
      },
    },
    catalog,
    clock,
    listAll: createListAll({ clock }),
    random: createRandom((length) => new Uint8Array(length).fill((idCount += 1))),
    arguments: createArgumentValidator({ clock, log: () => undefined }),
    oboTrust: { isTrusted: () => rig.isTrusted },
    policy: () => rig.policy,
    approvals: {
      request: async () => ({ id: 'approval', expiresAt: 1 }),
      consume: async () => rig.approved.shift() ?? false,
    },
    audit: {
      record: async (event) => void rig.audited.push(event),
      note: (event) => void rig.audited.push(event),
      reserve: () => rig.hasRoom,
    },
  };

  const rig = {
    clock,
    catalog,
    parts,
    upstream,
    tools: tools as readonly JsonObject[] | undefined,
    /** What the server answers besides its list of tools. */
    answers: ((): JsonObject => ({ content: [] })) as UpstreamScript,
    canSee: (_principal: Principal, _server: ServerSnapshot): boolean => true,
    credential: undefined as (() => Credential) | undefined,
    /** Throws when the server is left alone. */
    onCheck: undefined as (() => void) | undefined,
    onLease: undefined as ((count: number) => Promise<void> | void) | undefined,
    obtained: 0,
    audited: [] as AuditEvent[],
    /** Whether the audit log takes more. */
    hasRoom: true,
    /** Whether who last decided about servers may do so. */
    isTrusted: true,
    policy: createToolPolicy(undefined),
    /** What the user has approved, call by call. */
    approved: [] as boolean[],
    leases: [] as { server: string; holder: ConnectionHolder | undefined; options: LeaseOptions }[],
    released: [] as unknown[],
    sent: [] as SentRequest[],
    calls: () => rig.sent.filter(({ method }) => method === 'tools/call'),
    lists: () => rig.sent.filter(({ method }) => method === 'tools/list'),
    /** What was spent so far. */
    spent: () => ({ obtained: rig.obtained, leases: rig.leases.length, sent: rig.sent.length }),
    leave: () => disconnect.abort(),
    inbound: (overrides: Partial<Inbound> = {}): Inbound => ({
      principal: adaUser,
      door: 'rest',
      signal: disconnect.signal,
      ...overrides,
    }),
  };
  return rig;
}

function createAnswer(result: JsonObject): UpstreamResponse {
  return { kind: 'result', result, json: undefined };
}

export function createCredential(server: ServerSnapshot, principal: Principal): Credential {
  const target = {
    type: 'streamable-http' as const,
    url: 'https://mcp.example/mcp',
    headers: { authorization: `key of ${principal.userId}` },
    audience: server.audience,
    proxy: undefined,
    sseReadTimeoutMs: 300_000,
  };
  return { target, binding: principalKey(principal) };
}

/** Of a user who never signed in at the server. */
export function rejectSignIn(): never {
  throw new SignInRequired('absent');
}

/** The response of the server; fails if the call needs a sign-in. */
export function requireServerOutcome(outcome: CallOutcome): ServerOutcome {
  if (outcome.kind === 'auth_required') throw new Error(`A sign-in is required: ${outcome.signIn.reason}`);
  return outcome;
}

/** What a promise was rejected with. */
export async function captureRejection(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (value) => Promise.reject(new Error(`It ended well: ${JSON.stringify(value)}`)),
    (error: unknown) => error,
  );
}

/** As far as these tests go: what the built-in roles have by default, and no other. */
const checkDefaultPermissions: RequirePermission = ({ role }, permission) => {
  const permissions = role === 'ADMIN' || role === 'USER' ? roleDefaults[role] : undefined;
  if (!permissions?.[permission]) throw new GatewayError('MCP_FORBIDDEN');
};
