import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { served, signedIn } from './grantCalls.ts';
import { createGrantScenes } from './grantScene.ts';
import type { Person } from './people.ts';

const scenes = createGrantScenes();

async function stateAt(who: Person): Promise<string | undefined> {
  const body = (await (await who.get('/api/mcp/connection/status')).json()) as {
    connectionStatus: Record<string, { connectionState: string }>;
  };
  return body.connectionStatus['notes']?.connectionState;
}

describe('a grant that another replica ends or replaces', () => {
  for (const how of ['disconnect', 're-login'] as const) {
    test(`${how}: that user’s connection is closed here and their tools are listed anew`, async () => {
      const scene = await signedIn(scenes, { names: ['Ada', 'Bob'] });
      const { ada, people, beside, connect } = scene;
      await connect(people[1]!);
      const [adaHere, bobHere] = (await beside()) as [Person, Person];
      for (const who of [adaHere, bobHere]) {
        await who.call('notes', 'echo');
        expect(await stateAt(who)).toBe('connected');
      }
      const listed = served(scene, 'tools/list').length;
      if (how === 'disconnect') await ada.post('/api/mcp/notes/oauth/disconnect', {});
      else await connect(ada);
      await eventually('the connection to be closed', async () => (await stateAt(adaHere)) !== 'connected');
      expect(await stateAt(bobHere)).toBe('connected');
      if (how === 'disconnect') await connect(ada);
      const before = served(scene, 'tools/list').length;
      expect(before).toBeGreaterThanOrEqual(listed);
      // What another replica stored is known here with the next poll.
      await eventually(
        'her to be served again',
        async () => (await adaHere.call('notes', 'echo')).body.isError !== true,
      );
      expect(served(scene, 'tools/list').length).toBeGreaterThan(before);
    }, 60_000);
  }
});
