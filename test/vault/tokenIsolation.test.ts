import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@behalf/testkit';
import type { VaultProcess, VaultProcessRig } from '@behalf/testkit/vault';
import { expect, test } from '@jest/globals';
import { TOKEN_LIFETIME_MS, describeEachBackend } from './backends.ts';

describeEachBackend('what the vault keeps', ({ open }) => {
  test('of a thousand calls of two users at one server, none goes out with the other one’s token', async () => {
    const stage = await open();
    const processes = await stage.startMany(3);
    await stage.signIn(processes[0], 'ada');
    await stage.signIn(processes[1]!, 'bob');
    await stage.advance(TOKEN_LIFETIME_MS);
    const order = { users: ['ada', 'bob'], callsPerUser: 167, spreadMs: 300 };
    const { succeeded, failures, wrongUser } = await stage.callFromAll(processes, order);
    expect({ succeeded, failures, mistaken: wrongUser }).toEqual({
      succeeded: 1_002,
      failures: {},
      mistaken: 0,
    });
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 2, familyRevocations: 0 });
  }, 60_000);

  test('a grant that another process brings is used by running ones within two seconds', async () => {
    const stage = await open();
    const running = await stage.startMany(2);
    await stage.signIn(running[0], 'ada');
    await stage.callFromAll(running, { callsPerUser: 3 });
    const importer = await stage.start();
    const { accessToken } = await stage.signIn(importer, 'ada', 1);
    const imported = Date.now();
    for (const process of running) {
      await eventually(
        'the new token to be in use',
        async () => {
          await process.calls({ users: ['ada'], callsPerUser: 1 });
          return stage.server.guardedRequests.at(-1)?.bearer === accessToken;
        },
        2_000 - (Date.now() - imported),
      );
    }
    expect(stage.authorization.counters.tokenHits).toBe(0);
  }, 60_000);

  test('no token is found in what processes write, in what they answer, or in the store', async () => {
    const stage = await open();
    const processes = await stage.startMany(2);
    const [first] = processes as [VaultProcess];
    await stage.signIn(first, 'ada');
    const reports: unknown[] = [];
    const renewal = async () => {
      await stage.advance(TOKEN_LIFETIME_MS);
      reports.push(
        await stage.callFromAll(processes, { callsPerUser: 3 }),
        await first.token('ada'),
        await first.status('ada'),
      );
    };
    await renewal();
    // An authorization server that says back what it was sent, and what it would have given.
    const leak = [...stage.authorization.secrets].join(' ');
    const body = { error: 'invalid_request', error_description: leak, error_uri: leak };
    stage.authorization.respondNext('token', { status: 400, body }, { status: 500, body: leak });
    await renewal();
    stage.authorization.respondNext('token', { status: 200, body: { ...body, access_token: 5 } });
    await renewal();
    stage.authorization.endFamily(
      stage.authorization.inspect(stage.server.guardedRequests.at(-1)?.bearer ?? '')?.familyId ?? '',
    );
    await renewal();
    const places = {
      said: stage.output(),
      answered: JSON.stringify(reports),
      stored: await storedBytes(stage),
    };
    expect(stage.authorization.secrets.length).toBeGreaterThan(3);
    for (const [place, text] of Object.entries(places)) {
      const found = stage.authorization.secrets.filter((secret) => text.includes(secret));
      expect({ place, found: found.length }).toEqual({ place, found: 0 });
    }
  }, 60_000);
});

/** Everything that was written to disk, or asked of MongoDB. */
async function storedBytes({ stores: { dataDir }, mongo }: VaultProcessRig): Promise<string> {
  const files = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), 'latin1')),
  );
  const stored = [...texts, JSON.stringify(mongo?.receivedCommands ?? [])].join('\n');
  // The tokens lie there, sealed: a search that finds none of this looked in the wrong place.
  expect(stored).toContain('v1.');
  return stored;
}
