import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DevUser } from '@behalf/devidp';
import { describeWith, startRedisServer, type RedisServer } from '@behalf/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { callWithToken, subjectSeenByServer, type ToolCallResponse } from './oboCaller.ts';
import { startOboRig, exchangeMethods, type OboRig, type OboRigOptions } from './oboRig.ts';

describe('users’ tokens on their way to a server', () => {
  let rig: OboRig | undefined;
  afterEach(async () => {
    await rig?.close();
    rig = undefined;
  });
  const start = async (options: OboRigOptions) => (rig = await startOboRig(options));

  for (const provider of exchangeMethods) {
    test(`fifty calls at once cost one token request (${provider})`, async () => {
      const { idp, mail, mintToken, url } = await start({ provider, hasTargets: true });
      const own = mintToken('uma');
      const answers = await Promise.all(Array.from({ length: 50 }, () => callWithToken({ url }, own)));
      expect(answers.map(subjectSeenByServer)).toEqual(Array.from({ length: 50 }, () => 'uma'));
      expect(idp.requestLog.count()).toBe(1);
      // The warm ones cost none, and the server never saw the token that the caller came with, nor a second one.
      await Promise.all(Array.from({ length: 10 }, () => callWithToken({ url }, own)));
      expect(idp.requestLog.count()).toBe(1);
      expect(mail.credentials.find(own)).toBeUndefined();
      expect(mail.credentials.all()).toMatchObject([{ subject: 'uma', audience: 'mail-api' }]);
    }, 60_000);
  }

  test('a gateway that stops ends its users’ sessions, each with its user’s token', async () => {
    const { mail, mintToken, url, logged } = await start({ provider: 'jwt-bearer' });
    await callWithToken({ url }, mintToken('uma'));
    await callWithToken({ url }, mintToken('ada'));
    await rig?.close();
    const ended = mail.credentials.all().map(({ subject, methods }) => [subject, methods.DELETE]);
    expect(ended.sort()).toEqual([
      ['ada', 1],
      ['uma', 1],
    ]);
    expect(logged.filter(({ event }) => event === 'obo_exchange_failed')).toEqual([]);
  }, 60_000);

  test('thirty users with ten calls each cost thirty token requests, and each is seen as themselves', async () => {
    const users: DevUser[] = Array.from({ length: 30 }, (_, index) => ({
      ...{ id: `user-${index}`, email: `user-${index}@example.test`, name: `User ${index}` },
    }));
    const { idp, mail, mintToken, url } = await start({ provider: 'entra-secret', users });
    const own = users.map(({ id }) => ({ id, token: mintToken(id) }));
    const calls = Array.from({ length: 10 }, () => own).flat();
    const answers: ToolCallResponse[] = [];
    for (let at = 0; at < calls.length; at += 60) {
      const some = calls.slice(at, at + 60).map((caller) => callWithToken({ url }, caller.token));
      answers.push(...(await Promise.all(some)));
    }
    expect(answers.filter(({ status }) => status !== 200).map(({ body }) => body)).toEqual([]);
    expect(answers.map(subjectSeenByServer)).toEqual(calls.map(({ id }) => id));
    expect(idp.requestLog.count()).toBe(30);
    expect(mail.credentials.all()).toHaveLength(30);
  }, 120_000);
});

describeWith('redis-server', 'three replicas on Redis', () => {
  let redis: RedisServer;
  const opened: { close(): Promise<void> }[] = [];
  let dataDir: string;
  beforeAll(async () => {
    redis = await startRedisServer();
    dataDir = await mkdtemp(join(tmpdir(), 'behalf-obo-replicas-'));
  });
  afterEach(async () => {
    for (const part of opened.splice(0).reverse()) await part.close();
  });
  afterAll(async () => {
    await redis.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  for (const provider of ['entra-secret', 'jwt-bearer'] as const) {
    test(`fifty calls at once at each of three cost one token request (${provider})`, async () => {
      const variables = {
        CREDS_KEY: 'e'.repeat(64),
        REDIS_URI: redis.uri,
        REDIS_KEY_PREFIX: provider,
        BEHALF_DATA_DIR: join(dataDir, provider),
      };
      const rig = await startOboRig({ provider, variables });
      opened.push(rig);
      const { yaml, variables: env } = rig.startOptions;
      const gateways: Pick<InProcessGateway, 'url'>[] = [rig];
      for (let more = 0; more < 2; more += 1) {
        const replica = await startInProcess(env, yaml);
        opened.push(replica);
        gateways.push(replica);
      }
      // Known everywhere before: what is asked here is what the exchange costs.
      const own = rig.mintToken('uma');
      for (const { url } of gateways) {
        await fetch(`${url}/api/user`, { headers: { authorization: `Bearer ${own}` } });
      }
      const answers = await Promise.all(
        gateways.flatMap((gateway) => Array.from({ length: 50 }, () => callWithToken(gateway, own))),
      );
      expect(new Set(answers.map(subjectSeenByServer))).toEqual(new Set(['uma']));
      expect(rig.idp.requestLog.count()).toBe(1);
      expect(rig.mail.credentials.all()).toHaveLength(1);
    }, 120_000);
  }
});
