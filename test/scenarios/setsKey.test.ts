import { RunView } from '@behalf/contracts';
import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { saveBlock, sharingSettings } from './blockRig.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';
import { waitForRunEnd, saveSet } from './setRig.ts';
import { createTokenCaller } from './tokenCaller.ts';

describe('a run that a program began', () => {
  const rig = createGatewayRig();

  test('stops when its key is taken back, and only then', async () => {
    const waiting: (() => void)[] = [];
    const handler = async () => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return { content: [] };
    };
    const server = await rig.startServer({ era: 'legacy', tools: [{ name: 'wait', handler }] });
    const [ada] = (await rig.start(renderYaml({ post: httpDefinition(server.url) }, sharingSettings))) as [
      TestUser,
    ];
    const block = (await saveBlock(ada, { server: 'post', tool: 'wait' })).id;
    const set = await saveSet(
      ada,
      ['a', 'b'].map((key) => ({ key, block })),
    );
    const begin = async () => {
      const made = await ada.post('/api/user/keys', { name: 'program', scopes: ['mcp'] });
      const { id, key } = (await made.json()) as { id: string; key: string };
      const response = await createTokenCaller(rig.gateway.url, key).send(
        'POST',
        `/api/mcp/sets/${set.id}/run`,
        {},
      );
      expect(response.status).toBe(202);
      return { key: id, run: RunView.parse(await response.json()).id };
    };
    const [lost, remaining] = [await begin(), await begin()];
    await eventually('both are at their first step', () => waiting.length === 2);
    expect((await ada.send('DELETE', `/api/user/keys/${lost.key}`)).status).toBe(204);
    for (const goOn of waiting.splice(0)) goOn();
    const stopped = await waitForRunEnd(ada, lost.run);
    expect(stopped.steps.map(({ state, code }) => [state, code])).toEqual([
      ['succeeded', undefined],
      ['failed', 'AUTH_REQUIRED'],
    ]);
    await eventually('the other goes on', () => waiting.length === 1);
    waiting[0]!();
    expect((await waitForRunEnd(ada, remaining.run)).state).toBe('succeeded');
  });
});
