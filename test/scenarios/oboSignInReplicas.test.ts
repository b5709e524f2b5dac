import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith, eventually, startRedisServer, type RedisServer } from '@behalf/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { startInProcess } from './inProcess.ts';
import { seenBy } from './oboCaller.ts';
import { startOboScene } from './oboScene.ts';
import { needsReauth, signedInAt, signInOf, type OboVisitor } from './oboSignInVisitor.ts';
import { person } from './people.ts';
import { tokenCaller } from './tokenCaller.ts';

/** What every replica promises, and what a busy machine may add to it. */
const STALENESS_MS = 3_000;

describeWith('redis-server', 'a sign-out at another replica', () => {
  let redis: RedisServer;
  let dataDir: string;
  const opened: { close(): Promise<void> }[] = [];
  beforeAll(async () => {
    redis = await startRedisServer();
    dataDir = await mkdtemp(join(tmpdir(), 'behalf-obo-sign-out-'));
  });
  afterEach(async () => {
    for (const part of opened.splice(0).reverse()) await part.close();
  });
  afterAll(async () => {
    await redis.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  for (const way of ['entra-secret', 'jwt-bearer'] as const) {
    test(`no token of the session is used there any more (${way})`, async () => {
      const scene = await startOboScene({
        way,
        variables: {
          CREDS_KEY: 'f'.repeat(64),
          REDIS_URI: redis.uri,
          REDIS_KEY_PREFIX: `sign-out-${way}`,
          BEHALF_DATA_DIR: join(dataDir, way),
        },
      });
      opened.push(scene);
      const replica = await startInProcess(scene.startedWith.variables, scene.startedWith.yaml);
      opened.push(replica);
      const atReplica = ({ cookies }: OboVisitor) =>
        person(replica.url, 'uma', cookies.get('behalf_session') ?? '');
      const { idp, mail } = scene;

      const browser = await signedInAt(scene, 'uma');
      const made = await browser.post('/api/user/keys', { name: 'laptop', scopes: ['mcp', 'obo'] });
      const { key } = (await made.json()) as { key: string };
      const there = atReplica(browser);
      const program = tokenCaller(replica.url, key);
      // One token, for both of them and by whichever way they come.
      expect(seenBy(await browser.call())).toBe('uma');
      expect(seenBy(await there.call('mail', 'whoami'))).toBe('uma');
      expect(seenBy(await program.call('mail', 'whoami'))).toBe('uma');
      expect(idp.requests.count()).toBe(1);
      const [first, ...more] = mail.credentials.all();
      expect(more).toEqual([]);

      expect((await browser.post('/api/auth/logout')).status).toBe(204);
      await eventually(
        'the sign-out there',
        async () => {
          const [byCookie, byKey] = [
            await there.call('mail', 'whoami'),
            await program.call('mail', 'whoami'),
          ];
          return byCookie.status === 401 && signInOf(byKey) !== undefined;
        },
        STALENESS_MS,
      );
      mail.credentials.clear();
      expect((await there.call('mail', 'whoami')).status).toBe(401);
      expect(signInOf(await program.call('mail', 'whoami'))).toEqual(needsReauth('absent'));
      expect(mail.credentials.all()).toEqual([]);

      // Who signs in again has another.
      const again = await signedInAt(scene, 'uma');
      expect(seenBy(await atReplica(again).call('mail', 'whoami'))).toBe('uma');
      expect(seenBy(await program.call('mail', 'whoami'))).toBe('uma');
      expect(idp.requests.count()).toBe(2);
      expect(mail.credentials.all().map(({ hash }) => hash)).not.toContain(first?.hash);
    }, 60_000);
  }
});
