import { verifies } from '@behalf/testkit';
import { describe, expect } from '@jest/globals';
import { createDraftScenes } from './draftScene.ts';

describe('a server that nobody saved', () => {
  const begin = createDraftScenes();

  verifies(
    'drafts.discover.tools',
    'is signed in at, looked at, saved, and connected without a second sign-in',
    async () => {
      const { as, mcp, mia, discovered, signIn, save, clock } = await begin();
      const { draftId, end } = await signIn(mia);
      expect(end.pathname).toBe('/oauth/success');
      const seen = await discovered(mia, { auth: { type: 'draft', draftId } });
      expect(seen).toMatchObject({
        outcome: 'tools',
        draftId,
        tools: [{ name: 'echo' }, { name: 'write' }],
      });
      const saved = await save(mia, draftId);
      expect(saved).toMatchObject({ draft: 'kept', serverName: 'mine', dbId: draftId });
      const called = await mia.call('mine', 'echo', { text: 'hello' });
      expect(called.status).toBe(200);
      expect(as.counters).toMatchObject({ authorizations: 1, registrations: 1, refreshHits: 0 });
      clock.move(2 * 60 * 60 * 1000);
      expect((await mia.call('mine', 'echo', {})).status).toBe(200);
      expect(as.counters).toMatchObject({ authorizations: 1, rotations: 1, reuses: 0 });
      expect(mcp.visits.at(-1)?.facts).toMatchObject({ resource: mcp.url });
    },
  );
});
