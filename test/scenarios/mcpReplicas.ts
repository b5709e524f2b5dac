import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scriptedHttpServer, startRedisServer, type ScriptedCall } from '@behalf/testkit';
import { createMongoDouble } from '@behalf/testkit/mongo-double';
import { createWorkplace, type GatewayProcess } from './gatewayProcess.ts';
import { wireClient, type WireClient } from './mcpClient.ts';
import { createPeople, type Person } from './people.ts';
import { startRoundRobin, type RoundRobin } from './roundRobin.ts';
import { http, yamlWith } from './serverYaml.ts';

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
  finish(): void;
  close(): Promise<void>;
}

/** One file. */
export const onSqlite = (): Promise<SharedStores> =>
  Promise.resolve({ env: {}, close: () => Promise.resolve() });

export async function onMongoAndRedis(): Promise<SharedStores> {
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

const question = { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

export async function startMcpReplicas(stores: SharedStores): Promise<McpReplicas> {
  const running: (() => void)[] = [];
  const long = async (_: object, call: ScriptedCall) => {
    call.progress(1, 2);
    await new Promise<void>((resolve) => running.push(resolve));
    return text('done');
  };
  const asking = async (_: object, call: ScriptedCall) =>
    text(JSON.stringify((await call.sendRequest('elicitation/create', question)).result));
  const tools = [{ name: 'echo' }, { name: 'long', handler: long }, { name: 'asking', handler: asking }];
  const place = await createWorkplace();
  const upstream = await scriptedHttpServer({ era: 'legacy', tools });
  const proxy = await startRoundRobin();
  await writeFile(join(place.dir, 'librechat.yaml'), yamlWith({ files: http(upstream.url) }));
  const env = { CREDS_KEY: 'e'.repeat(64), RATE_LIMIT_CALLS: '100000', ...stores.env };
  const gateways = [await place.start(env), await place.start(env), await place.start(env)] as const;
  proxy.balance(gateways.map(({ url }) => url));
  const where = {
    ...{ url: gateways[0].url, dataDir: join(place.dir, 'data') },
    mongoUri: stores.env['MONGO_URI'],
  };
  const [ada] = (await createPeople(where, ['Ada'])) as [Person];
  return {
    gateways,
    proxy,
    client: await wireClient(ada, proxy.url),
    finish() {
      for (const end of running.splice(0)) end();
    },
    async close() {
      proxy.close();
      await place.clear();
      await upstream.close();
    },
  };
}
