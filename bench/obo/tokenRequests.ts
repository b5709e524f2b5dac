import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sendBurst } from '../burst.ts';
import { createRestCall, startBenchGateway, type BenchGateway } from '../gatewayProcess.ts';
import { startRedis } from '../redis.ts';
import type { PartOptions, BenchRig } from '../rig.ts';
import type { MsalJob } from './msal.ts';
import { exchangeMethods, type OboBenchRig } from './rig.ts';

const CALLERS = 50;
const REPLICAS = 3;
const USERS = 100;
const CALLS = 20;
/** Each round has its own users. The worst round is reported. */
const ROUNDS = 3;
/** The duration of an exchange, so that the calls of a burst overlap with it. */
const EXCHANGE_MS = 150;
/** For the calls of many users. */
const MAX_CONCURRENCY = 10 * CALLS;

/** The number of users that `countTokenRequests` uses. */
export const COUNTED_USERS = exchangeMethods.length * (2 * ROUNDS + USERS) + 2 * ROUNDS;

interface CountOptions extends PartOptions, Pick<BenchRig, 'processes'> {
  rig: OboBenchRig;
  gateway: BenchGateway;
}

/** Counts requests at the identity provider while no token is cached. */
export async function countTokenRequests(options: CountOptions): Promise<Record<string, number>> {
  const { rig, gateway, progress } = options;
  const counts: Record<string, number> = {};
  const recordCount = (name: string, count: number) => {
    counts[name] = count;
    progress(`obo: ${name} ${count}`);
  };
  await rig.setExchangeDelay(EXCHANGE_MS);
  for (const method of exchangeMethods) {
    recordCount(
      `cold_50_token_requests_${metricNameOf(method)}`,
      await countColdBursts(rig, [gateway], method),
    );
  }
  recordCount('cold_50_token_requests_raw_msal', await countMsalBursts(options));
  for (const method of exchangeMethods) {
    recordCount(
      `users_100x20_token_requests_${metricNameOf(method)}`,
      await countManyUsers(rig, gateway, method),
    );
  }
  const replicas = await startReplicas(options);
  for (const method of exchangeMethods) {
    recordCount(
      `cold_3x50_token_requests_${metricNameOf(method)}`,
      await countColdBursts(rig, replicas, method),
    );
  }
  for (const replica of replicas) await replica.stop();
  await rig.setExchangeDelay(0);
  return counts;
}

const metricNameOf = (method: string) => method.replaceAll('-', '_');
const echoCall = {
  expectedText: 'hello',
  forMethod: (method: string) => createRestCall(method, 'echo', { text: 'hello' }),
};

/** One user's first calls, at all gateways concurrently. */
async function countColdBursts(
  rig: OboBenchRig,
  gateways: readonly BenchGateway[],
  method: string,
): Promise<number> {
  const counts: number[] = [];
  for (const headers of await rig.newUserHeaders(ROUNDS)) {
    const requests = gateways.flatMap(({ port }) =>
      Array.from({ length: CALLERS }, () => ({ ...echoCall.forMethod(method), port, headers })),
    );
    counts.push(await rig.countTokenRequests(() => sendBurst(requests, echoCall)));
  }
  return Math.max(...counts);
}

async function countManyUsers(rig: OboBenchRig, { port }: BenchGateway, method: string): Promise<number> {
  const requests = (await rig.newUserHeaders(USERS)).flatMap((headers) =>
    Array.from({ length: CALLS }, () => ({ ...echoCall.forMethod(method), port, headers })),
  );
  return rig.countTokenRequests(() => sendBurst(requests, { ...echoCall, concurrency: MAX_CONCURRENCY }));
}

/** The best round, without the request that loads the metadata. */
async function countMsalBursts({ rig, processes }: CountOptions): Promise<number> {
  const { caFile, entra } = rig;
  const msal = processes.startWorker('obo/msal.ts');
  const counts: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [first = '', token = ''] = await rig.tokens(2);
    const job: MsalJob = { do: 'cold', authority: entra.authority, caFile, first, token, callers: CALLERS };
    counts.push((await rig.countTokenRequests(() => msal.runJob(job))) - 1);
  }
  await msal.stop();
  return Math.min(...counts);
}

/** Gateways that share a store and Redis. */
async function startReplicas({ rig, processes, environment }: CountOptions): Promise<BenchGateway[]> {
  const directory = join(rig.directory, 'replicas');
  mkdirSync(directory);
  const variables = {
    ...rig.variables,
    REDIS_URI: await startRedis(processes, environment),
    // All replicas use the same key.
    CREDS_KEY: 'd'.repeat(64),
  };
  const replicas: BenchGateway[] = [];
  while (replicas.length < REPLICAS) {
    const { settings } = rig;
    replicas.push(
      await startBenchGateway(processes, { settings, environment, directory, variables, userIds: [] }),
    );
  }
  return replicas;
}
