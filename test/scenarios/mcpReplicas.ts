import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scriptedHttpServer, startRedisServer, type ScriptedCall } from '@behalf/testkit';
import { createMongoDouble } from '@behalf/testkit/mongo-double';
import { createWorkspace, type GatewayProcess } from './gatewayProcess.ts';
import { createWireClient, type WireClient } from './mcpClient.ts';
import { createUsers, type TestUser } from './users.ts';
import { startRoundRobin, type RoundRobin } from './roundRobin.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

/** What several replicas share. */
export interface SharedStores {
  readonly env: Record<string, string>;
  close(): Promise<void>;
}

/** Three processes on the same stores, behind one address, with a legacy server behind them. */
export interface McpReplicas {
  readonly gateways: readonly [GatewayProcess, GatewayProcess, GatewayProcess];
  readonly proxy: RoundRobin;
  /** Ada's, at the one address. */
  readonly client: WireClient;
  /** Lets the calls of `long` end that have begun. */
  finishCalls(): void;
  close(): Promise<void>;
}

/** One file. */
export const startSqliteStores = (): Promise<SharedStores> =>
  Promise.resolve({ env: {}, close: () => Promise.resolve() });

export async function startMongoAndRedisStores(): Promise<SharedStores> {
  const redis = await startRedisServer();
  const mongo = await createMongoDouble();
  return {
    env: { MONGO_URI: mongo.uriFor('replicas'), REDIS_URI: redis.uri },
    async close() {
      await mongo.close();
      await redis.stop();
    },
  };
}

const elicitParams = { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

export async function startMcpReplicas(stores: SharedStores): Promise<McpReplicas> {
  const pendingCalls: (() => void)[] = [];
  const longHandler = async (_: object, call: ScriptedCall) => {
    call.progress(1, 2);
    await new Promise<void>((resolve) => pendingCalls.push(resolve));
    return text('done');
  };
  const elicitHandler = async (_: object, call: ScriptedCall) =>
    text(JSON.stringify((await call.sendRequest('elicitation/create', elicitParams)).result));
  const tools = [
    { name: 'echo' },
    { name: 'long', handler: longHandler },
    { name: 'asking', handler: elicitHandler },
  ];
  const workspace = await createWorkspace();
  const upstream = await scriptedHttpServer({ era: 'legacy', tools });
  const proxy = await startRoundRobin();
  await writeFile(join(workspace.dir, 'librechat.yaml'), renderYaml({ files: httpDefinition(upstream.url) }));
  const env = { CREDS_KEY: 'e'.repeat(64), RATE_LIMIT_CALLS: '100000', ...stores.env };
  const gateways = [
    await workspace.start(env),
    await workspace.start(env),
    await workspace.start(env),
  ] as const;
  proxy.balance(gateways.map(({ url }) => url));
  const gatewayTarget = {
    ...{ url: gateways[0].url, dataDir: join(workspace.dir, 'data') },
    mongoUri: stores.env['MONGO_URI'],
  };
  const [ada] = (await createUsers(gatewayTarget, ['Ada'])) as [TestUser];
  return {
    gateways,
    proxy,
    client: await createWireClient(ada, proxy.url),
    finishCalls() {
      for (const finishCall of pendingCalls.splice(0)) finishCall();
    },
    async close() {
      proxy.close();
      await workspace.cleanUp();
      await upstream.close();
    },
  };
}
