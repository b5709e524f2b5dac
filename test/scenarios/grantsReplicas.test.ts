import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { servedRequests, createSignedInRig } from './grantCalls.ts';
import { createGrantRigs } from './grantRig.ts';
import type { TestUser } from './users.ts';

const createRig = createGrantRigs();

async function stateAt(who: TestUser): Promise<string | undefined> {
  const body = (await (await who.get('/api/mcp/connection/status')).json()) as {
    connectionStatus: Record<string, { connectionState: string }>;
  };
  return body.connectionStatus['notes']?.connectionState;
}

describe('a grant that another replica ends or replaces', () => {
  for (const how of ['disconnect', 're-login'] as const) {
    test(`${how}: that user’s connection is closed here and their tools are listed anew`, async () => {
      const rig = await createSignedInRig(createRig, { names: ['Ada', 'Bob'] });
      const { ada, users, startReplica, connectUser } = rig;
      await connectUser(users[1]!);
      const [adaHere, bobHere] = (await startReplica()) as [TestUser, TestUser];
      for (const who of [adaHere, bobHere]) {
        await who.call('notes', 'echo');
        expect(await stateAt(who)).toBe('connected');
      }
      const listed = servedRequests(rig, 'tools/list').length;
      if (how === 'disconnect') await ada.post('/api/mcp/notes/oauth/disconnect', {});
      else await connectUser(ada);
      await eventually('the connection to be closed', async () => (await stateAt(adaHere)) !== 'connected');
      expect(await stateAt(bobHere)).toBe('connected');
      if (how === 'disconnect') await connectUser(ada);
      const before = servedRequests(rig, 'tools/list').length;
      expect(before).toBeGreaterThanOrEqual(listed);
      // What another replica stored is known here with the next poll.
      await eventually(
        'her to be served again',
        async () => (await adaHere.call('notes', 'echo')).body.isError !== true,
      );
      expect(servedRequests(rig, 'tools/list').length).toBeGreaterThan(before);
    }, 60_000);
  }
});
