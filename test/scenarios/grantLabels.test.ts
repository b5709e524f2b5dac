import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createGrantRigs } from './grantRig.ts';
import type { TestUser } from './users.ts';

const createRig = createGrantRigs();

describe('the chosen one of several credentials', () => {
  test('is told as gone when it is ended, and the one that is left is used', async () => {
    const { users, connectUser, startSignIn, listCredentials, mcp } = await createRig();
    const [ada] = users as [TestUser];
    await connectUser(ada);
    await ada.call('notes', 'echo');
    const first = mcp.guardedRequests.at(-1)?.bearer;
    await connectUser(ada, await startSignIn(ada, { label: 'work' }));
    await ada.send('PATCH', '/api/mcp/notes/credentials/work', { isDefault: true });
    await eventually('the chosen one is used', async () => {
      await ada.call('notes', 'echo');
      return mcp.guardedRequests.at(-1)?.bearer !== first;
    });
    const second = mcp.guardedRequests.at(-1)?.bearer;
    const ended = await ada.send('DELETE', '/api/mcp/notes/credentials/work');
    expect([ended.status, await ended.json()]).toEqual([200, { disconnected: true, revoked: 'yes' }]);
    expect((await listCredentials(ada)).map(({ label, status }) => [label, status])).toEqual([
      ['default', 'active'],
      ['work', 'revoked'],
    ]);
    // At once, and never with what was ended.
    const { length } = mcp.guardedRequests;
    expect((await ada.call('notes', 'echo')).body).toMatchObject({ isError: false });
    const bearers = mcp.guardedRequests.slice(length).map(({ bearer }) => bearer);
    expect(bearers.length).toBeGreaterThan(0);
    expect(bearers.every((bearer) => bearer === first)).toBe(true);
    expect(bearers).not.toContain(second);
  });
});
