import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeWith, eventually, startRedisServer, type RedisServer } from '@behalf/testkit';
import { createMongoDouble, type MongoDouble } from '@behalf/testkit/mongo-double';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { adaAccount, createBrowser, createAdministrator, setupTokenOf } from './browser.ts';
import { createWorkspace, type GatewayWorkspace } from './gatewayProcess.ts';
import { createServerYaml } from './scriptedYaml.ts';

const CREDS_KEY = 'd'.repeat(64);

describeWith('redis-server', 'a gateway on each pair of stores', () => {
  let workspace: GatewayWorkspace;
  let redis: RedisServer;
  let mongo: MongoDouble;
  beforeAll(async () => {
    redis = await startRedisServer();
    mongo = await createMongoDouble();
  });
  afterAll(async () => {
    await mongo.close();
    await redis.stop();
  });
  beforeEach(async () => {
    workspace = await createWorkspace();
  });
  afterEach(() => workspace.cleanUp());

  const pairs = [
    ['sqlite', 'sqlite', () => ({})],
    ['sqlite', 'redis', () => ({ REDIS_URI: redis.uri })],
    ['mongo', 'mongo', () => ({ MONGO_URI: mongo.uriFor('alone') })],
    ['mongo', 'redis', () => ({ MONGO_URI: mongo.uriFor('with-redis'), REDIS_URI: redis.uri })],
  ] as const;
  for (const [primary, coordination, env] of pairs) {
    test(`${primary} and ${coordination}: starts, says so, signs in, stops`, async () => {
      const gateway = await workspace.start({ CREDS_KEY, ...env() });
      expect(await (await fetch(`${gateway.url}/ready`)).json()).toMatchObject({
        status: 'ready',
        stores: { primary, coordination },
      });
      const browser = createBrowser(gateway.url);
      expect(
        (await browser.post('/api/auth/setup', { token: setupTokenOf(gateway.setupLink), ...adaAccount }))
          .status,
      ).toBe(201);
      expect((await browser.get('/api/user')).status).toBe(200);
      expect(await gateway.stop()).toBe(0);
    }, 60_000);
  }

  test('without its Redis a gateway starts, says what is missing, and recovers', async () => {
    const own = await startRedisServer();
    await own.stop();
    const gateway = await workspace.start({ CREDS_KEY, REDIS_URI: own.uri });
    const ready = await fetch(`${gateway.url}/ready`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({
      status: 'not_ready',
      missing: [{ part: 'redis', reason: 'does not answer' }],
    });
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    await own.start();
    await eventually('the gateway to recover', async () => (await fetch(`${gateway.url}/ready`)).ok);
    expect(await gateway.stop()).toBe(0);
    await own.stop();
  }, 60_000);

  test('two replicas on one MongoDB need one key', async () => {
    const env = { MONGO_URI: mongo.uriFor('replicas'), CREDS_KEY };
    const first = await workspace.start(env);
    const second = await workspace.start(env);
    expect(second.setupLink).not.toBeNull();
    const otherKeyRun = await workspace.runToExit({ ...env, CREDS_KEY: 'e'.repeat(64) });
    expect(otherKeyRun.code).toBe(78);
    const browser = createBrowser(first.url);
    expect(
      (await browser.post('/api/auth/setup', { token: setupTokenOf(second.setupLink), ...adaAccount }))
        .status,
    ).toBe(201);
    const late = await createBrowser(second.url).post('/api/auth/setup', {
      token: setupTokenOf(first.setupLink),
      ...adaAccount,
      email: 'eve@example.com',
    });
    expect(late.status).toBe(403);
    await first.stop();
    await second.stop();
  }, 60_000);

  test('a reload asked of one replica reaches the other', async () => {
    const file = join(workspace.dir, 'librechat.yaml');
    await writeFile(file, `mcpServers:\n${createServerYaml('first')}`);
    const env = { MONGO_URI: mongo.uriFor('reload'), REDIS_URI: redis.uri, CREDS_KEY };
    const one = await workspace.start(env);
    const other = await workspace.start(env);
    const browser = await createAdministrator(one);
    await writeFile(file, `mcpServers:\n${createServerYaml('second')}`);
    expect((await browser.post('/api/admin/reload')).status).toBe(200);
    await eventually('the other replica to reload', () =>
      /"requestedBy":"another replica"/.test(other.output()),
    );
    expect(one.output()).not.toContain('"requestedBy":"another replica"');
    await one.stop();
    await other.stop();
  }, 60_000);
});
