import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMongoDouble, type MongoDouble } from '../mongoDouble/index.ts';
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type GrantedTokens,
  startAuthorizationServer,
} from '../oauth/authorizationServer.ts';
import { guardedMcpServer, type GuardedMcpServer } from '../oauth/guardedMcpServer.ts';
import {
  type CallsCommand,
  type CallsReport,
  type VaultSpec,
  type VaultStores,
  createRigClock,
} from './vaultSpec.ts';
import { type VaultPool, type VaultProcess, createVaultPool } from './vaultProcess.ts';

export type VaultBackend =
  { readonly kind: 'sqlite' } | { readonly kind: 'mongo'; readonly redisUri: string };

export interface VaultProcessRigOptions {
  readonly backend: VaultBackend;
  readonly authorization?: AuthorizationServerOptions;
  /** Timings that differ from the production values, for every process. */
  readonly timings?: Readonly<Record<string, number>>;
  readonly rotationGraceMs?: number;
  /** Provides the processes and takes them back. Default: a pool of this rig. */
  readonly pool?: VaultPool;
}

/** An authorization server, a server that requires its tokens, a store, and processes that share it. */
export interface VaultProcessRig {
  readonly authorization: AuthorizationServer;
  readonly server: GuardedMcpServer;
  /** The client ID of the processes at the authorization server. */
  readonly clientId: string;
  /** The MongoDB test double, if it is the backend. */
  readonly mongo: MongoDouble | null;
  readonly stores: VaultStores;
  start(options?: { skewMs?: number }): Promise<VaultProcess>;
  /** At least one. */
  startMany(count: number): Promise<[VaultProcess, ...VaultProcess[]]>;
  /** Advances the time of processes, stores and the authorization server. Redis keeps its own time. */
  advance(ms: number): Promise<void>;
  /** Creates a grant at the authorization server, without storing it. */
  grantTo(user: string): GrantedTokens;
  /** Creates a grant for a user and stores it through the vault of a process. */
  signIn(process: VaultProcess, user: string, baseGeneration?: number): Promise<GrantedTokens>;
  /** Makes concurrent calls in every process and merges the reports. */
  callFromAll(
    processes: readonly VaultProcess[],
    order: Omit<CallsCommand, 'users'> & Partial<CallsCommand>,
  ): Promise<CallsReport>;
  /** The output of all processes that ever ran. */
  output(): string;
  close(): Promise<void>;
}

const CLIENT_ID = 'behalf-storm';

export async function createVaultProcessRig({
  backend,
  authorization: options = {},
  timings = {},
  rotationGraceMs = 0,
  pool: sharedPool,
}: VaultProcessRigOptions): Promise<VaultProcessRig> {
  let aheadMs = 0;
  const clock = createRigClock(aheadMs);
  const authorization = await startAuthorizationServer({
    now: () => clock.now(),
    clients: [{ clientId: CLIENT_ID, authMethod: 'none' }],
    ...options,
  });
  const server = await guardedMcpServer({
    era: 'legacy',
    sessions: false,
    authorizationServer: authorization,
    tools: [
      {
        name: 'whoami',
        handler: (_, { request }) => {
          const bearer = request.headers.authorization?.slice('Bearer '.length) ?? '';
          return { content: [{ type: 'text', text: authorization.inspect(bearer)?.user ?? '' }] };
        },
      },
    ],
  });
  const dataDir = await mkdtemp(join(tmpdir(), 'behalf-vault-'));
  const mongo = backend.kind === 'mongo' ? await createMongoDouble({ clock }) : null;
  const name = `behalf_${randomBytes(6).toString('hex')}`;
  const stores: VaultStores =
    backend.kind === 'mongo' && mongo
      ? { dataDir, mongoUri: mongo.uriFor(name), redis: { uri: backend.redisUri, prefix: name } }
      : { dataDir };
  const sealingKey = randomBytes(32).toString('hex');
  const pool = sharedPool ?? createVaultPool();
  const started: VaultProcess[] = [];

  const specFor = (skewMs: number): VaultSpec => ({
    stores,
    sealingKey,
    issuer: authorization.issuer,
    tokenEndpoint: authorization.endpoints.token,
    revocationEndpoint: authorization.endpoints.revocation,
    clientId: CLIENT_ID,
    resource: server.url,
    ports: [authorization.port, server.port],
    rotationGraceMs,
    timings,
    skewMs,
    aheadMs,
  });

  async function start({ skewMs = 0 } = {}): Promise<VaultProcess> {
    const process = await pool.open(specFor(skewMs));
    started.push(process);
    return process;
  }

  const grantTo = (user: string) =>
    authorization.grant({ clientId: CLIENT_ID, user, scope: 'mcp:read', resource: server.url });

  return {
    authorization,
    server,
    clientId: CLIENT_ID,
    mongo,
    stores,
    start,
    async startMany(count) {
      const [first, ...rest] = await Promise.all(Array.from({ length: count }, () => start()));
      if (!first) throw new RangeError('At least one process is required');
      return [first, ...rest];
    },
    async advance(ms) {
      aheadMs += ms;
      clock.setAhead(aheadMs);
      await Promise.all(started.map((process) => process.setAhead(aheadMs).catch(() => undefined)));
    },
    grantTo,
    async signIn(process, user, baseGeneration = 0) {
      const tokens = grantTo(user);
      const outcome = await process.commit({ user, tokens, sentAt: clock.now(), baseGeneration });
      if (outcome.kind !== 'committed') throw new Error(`The grant was not stored: ${outcome.kind}`);
      return tokens;
    },
    async callFromAll(processes, order) {
      const reports = await Promise.all(
        processes.map((process) => process.calls({ users: ['ada'], ...order })),
      );
      return reports.reduce(mergeReports);
    },
    output: () => started.map((process) => process.output()).join(''),
    async close() {
      if (sharedPool) await Promise.all(started.map((process) => pool.release(process)));
      else await pool.close();
      await Promise.all([server.close(), authorization.close(), mongo?.close()]);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function mergeReports(a: CallsReport, b: CallsReport): CallsReport {
  const failures = { ...a.failures };
  for (const [why, count] of Object.entries(b.failures)) failures[why] = (failures[why] ?? 0) + count;
  return {
    succeeded: a.succeeded + b.succeeded,
    failures,
    wrongUser: a.wrongUser + b.wrongUser,
  };
}
