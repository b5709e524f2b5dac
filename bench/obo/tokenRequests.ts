import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { burst } from '../burst.ts';
import { restCall, startGateway, type BenchGateway } from '../gatewayProcess.ts';
import { startRedis } from '../redis.ts';
import type { PartOptions, Stage } from '../stage.ts';
import type { MsalJob } from './msal.ts';
import { ways, type OboScene } from './scene.ts';

const CALLERS = 50;
const REPLICAS = 3;
const USERS = 100;
const CALLS = 20;
/** Each with users of its own; the worst one is reported. */
const ROUNDS = 3;
/** So long takes an exchange, so that the calls of a burst overlap with it. */
const EXCHANGE_MS = 150;
/** Of the calls of many users: who is served together is served with all their calls at once. */
const AT_ONCE = 10 * CALLS;

/** How many users `countTokenRequests` takes. */
export const usersCounted = ways.length * (2 * ROUNDS + USERS) + 2 * ROUNDS;

interface CountParts extends PartOptions, Pick<Stage, 'processes'> {
  scene: OboScene;
  gateway: BenchGateway;
}

/** What the identity provider is asked for when nobody has a token yet. */
export async function countTokenRequests(parts: CountParts): Promise<Record<string, number>> {
  const { scene, gateway, progress } = parts;
  const counts: Record<string, number> = {};
  const note = (name: string, count: number) => {
    counts[name] = count;
    progress(`obo: ${name} ${count}`);
  };
  await scene.slow(EXCHANGE_MS);
  for (const way of ways) {
    note(`cold_50_token_requests_${nameOf(way)}`, await coldBursts(scene, [gateway], way));
  }
  note('cold_50_token_requests_raw_msal', await rawMsal(parts));
  for (const way of ways) {
    note(`users_100x20_token_requests_${nameOf(way)}`, await manyUsers(scene, gateway, way));
  }
  const replicas = await startReplicas(parts);
  for (const way of ways) {
    note(`cold_3x50_token_requests_${nameOf(way)}`, await coldBursts(scene, replicas, way));
  }
  for (const replica of replicas) await replica.stop();
  await scene.slow(0);
  return counts;
}

const nameOf = (way: string) => way.replaceAll('-', '_');
const call = { expect: 'hello', of: (way: string) => restCall(way, 'echo', { text: 'hello' }) };

/** One user who calls for the first time, at every gateway at once. */
async function coldBursts(scene: OboScene, gateways: readonly BenchGateway[], way: string): Promise<number> {
  const counts: number[] = [];
  for (const headers of await scene.newcomers(ROUNDS)) {
    const requests = gateways.flatMap(({ port }) =>
      Array.from({ length: CALLERS }, () => ({ ...call.of(way), port, headers })),
    );
    counts.push(await scene.counted(() => burst(requests, call)));
  }
  return Math.max(...counts);
}

async function manyUsers(scene: OboScene, { port }: BenchGateway, way: string): Promise<number> {
  const requests = (await scene.newcomers(USERS)).flatMap((headers) =>
    Array.from({ length: CALLS }, () => ({ ...call.of(way), port, headers })),
  );
  return scene.counted(() => burst(requests, { ...call, atOnce: AT_ONCE }));
}

/** The best of its rounds, without the one request that makes its metadata known. */
async function rawMsal({ scene, processes }: CountParts): Promise<number> {
  const { caFile, entra } = scene;
  const msal = processes.worker('obo/msal.ts');
  const counts: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [first = '', token = ''] = await scene.tokens(2);
    const job: MsalJob = { do: 'cold', authority: entra.authority, caFile, first, token, callers: CALLERS };
    counts.push((await scene.counted(() => msal.ask(job))) - 1);
  }
  await msal.stop();
  return Math.min(...counts);
}

/** Gateways that share a store and a Redis. */
async function startReplicas({ scene, processes, environment }: CountParts): Promise<BenchGateway[]> {
  const directory = join(scene.directory, 'replicas');
  mkdirSync(directory);
  const variables = {
    ...scene.variables,
    REDIS_URI: await startRedis(processes, environment),
    // The same for all of them.
    CREDS_KEY: 'd'.repeat(64),
  };
  const replicas: BenchGateway[] = [];
  while (replicas.length < REPLICAS) {
    const { settings } = scene;
    replicas.push(
      await startGateway(processes, { settings, environment, directory, variables, userIds: [] }),
    );
  }
  return replicas;
}
