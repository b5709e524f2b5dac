import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith, eventually, startRedisServer, type RedisServer } from '@behalf/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { startInProcess } from './inProcess.ts';
import { subjectSeenByServer } from './oboCaller.ts';
import { startOboRig } from './oboRig.ts';
import {
  createReauthStatus,
  createSignedInVisitor,
  readSignIn,
  type OboVisitor,
} from './oboSignInVisitor.ts';
import { connectUser } from './users.ts';
import { createTokenCaller } from './tokenCaller.ts';

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

  for (const provider of ['entra-secret', 'jwt-bearer'] as const) {
    test(`no token of the session is used there any more (${provider})`, async () => {
      const rig = await startOboRig({
        provider,
        variables: {
          CREDS_KEY: 'f'.repeat(64),
          REDIS_URI: redis.uri,
          REDIS_KEY_PREFIX: `sign-out-${provider}`,
          BEHALF_DATA_DIR: join(dataDir, provider),
        },
      });
      opened.push(rig);
      const replica = await startInProcess(rig.startOptions.variables, rig.startOptions.yaml);
      opened.push(replica);
      const atReplica = ({ cookies }: OboVisitor) =>
        connectUser(replica.url, 'uma', cookies.get('behalf_session') ?? '');
      const { idp, mail } = rig;

      const browser = await createSignedInVisitor(rig, 'uma');
      const made = await browser.post('/api/user/keys', { name: 'laptop', scopes: ['mcp', 'obo'] });
      const { key } = (await made.json()) as { key: string };
      const there = atReplica(browser);
      const program = createTokenCaller(replica.url, key);
      // One token, for both of them and by whichever way they come.
      expect(subjectSeenByServer(await browser.call())).toBe('uma');
      expect(subjectSeenByServer(await there.call('mail', 'whoami'))).toBe('uma');
      expect(subjectSeenByServer(await program.call('mail', 'whoami'))).toBe('uma');
      expect(idp.requestLog.count()).toBe(1);
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
          return byCookie.status === 401 && readSignIn(byKey) !== undefined;
        },
        STALENESS_MS,
      );
      mail.credentials.clear();
      expect((await there.call('mail', 'whoami')).status).toBe(401);
      expect(readSignIn(await program.call('mail', 'whoami'))).toEqual(createReauthStatus('absent'));
      expect(mail.credentials.all()).toEqual([]);

      // Who signs in again has another.
      const again = await createSignedInVisitor(rig, 'uma');
      expect(subjectSeenByServer(await atReplica(again).call('mail', 'whoami'))).toBe('uma');
      expect(subjectSeenByServer(await program.call('mail', 'whoami'))).toBe('uma');
      expect(idp.requestLog.count()).toBe(2);
      expect(mail.credentials.all().map(({ hash }) => hash)).not.toContain(first?.hash);
    }, 60_000);
  }
});
